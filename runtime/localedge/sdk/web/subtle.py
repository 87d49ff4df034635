"""crypto.subtle: digests and HMAC, which is what tokens and signed requests are made of.

Source: developers.cloudflare.com/workers/runtime-apis/web-crypto and workerd
src/workerd/api/crypto, read 2026-12-01.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar, Final, NoReturn

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.jsproxy import listed
from localedge.sdk.web.buffers import ArrayBuffer, to_bytes
from localedge.sdk.web.options import members_of
from localedge.values import JsObject, NativeFunction

_DIGESTS: Final = {
    "MD5": hashlib.md5,
    "SHA-1": hashlib.sha1,
    "SHA-256": hashlib.sha256,
    "SHA-384": hashlib.sha384,
    "SHA-512": hashlib.sha512,
}
_USAGES: Final = ("sign", "verify")


class CryptoKey(JsObject):
    """A key of HMAC.

    Shape: `secret` is its bytes, `digest` the name of its hash; `algorithm` is what workers see.
    """

    __slots__ = ("algorithm", "digest", "extractable", "secret", "usages")
    js_class = "CryptoKey"
    js_properties: ClassVar[Mapping[str, str]] = {
        "type": "kind",
        "extractable": "extractable",
        "algorithm": "algorithm",
        "usages": "usages",
    }
    kind: ClassVar[str] = "secret"

    def __init__(self, secret: bytes, digest: str, extractable: bool, usages: list[str]) -> None:
        self.secret = secret
        self.digest = digest
        self.extractable = extractable
        self.usages = usages
        self.algorithm = {"name": "HMAC", "length": len(secret) * 8, "hash": {"name": digest}}

    def signature(self, data: bytes) -> bytes:
        """The HMAC of `data`."""
        return hmac.digest(self.secret, data, self.digest.replace("-", ""))


def _name(algorithm: Any) -> str:
    members = members_of(algorithm)
    return js_string(members.get("name", "") if members else algorithm)


def _digest_name(algorithm: Any) -> str:
    name = _name(algorithm)
    if name.upper() not in _DIGESTS:
        raise JsException(f"Unrecognized digest algorithm: {name}", name="NotSupportedError")
    return name.upper()


async def _digest(algorithm: Any, data: Any) -> ArrayBuffer:
    return ArrayBuffer(_DIGESTS[_digest_name(algorithm)](to_bytes(data)).digest())


def _hmac_of(operation: str, algorithm: Any) -> str:
    """The digest of an HMAC algorithm. Errors: JsException for any other algorithm."""
    if _name(algorithm).upper() != "HMAC":
        _refuse(f"{operation} with {_name(algorithm)}")
    members = members_of(algorithm)
    if "hash" not in members:
        raise js_type_error('Missing field "hash" in "algorithm".')
    return _digest_name(members["hash"])


def _usages_of(given: Any) -> list[str]:
    usages = [js_string(one) for one in listed(given) or ()]
    if not usages or not set(usages) <= set(_USAGES):
        raise JsException(
            f"Invalid key usages for HMAC: [{', '.join(usages)}]; sign and verify are allowed.",
            name="SyntaxError",
        )
    return [one for one in _USAGES if one in usages]


async def _import_key(
    form: Any, data: Any, algorithm: Any, extractable: Any, usages: Any
) -> CryptoKey:
    digest = _hmac_of("importKey", algorithm)
    if form != "raw":
        _refuse(f'importKey of the form "{js_string(form)}"')
    secret = to_bytes(data)
    if not secret:
        raise JsException(
            "Imported HMAC key length (0) must be a non-zero value.", name="DataError"
        )
    return CryptoKey(secret, digest, bool(extractable), _usages_of(usages))


async def _generate_key(algorithm: Any, extractable: Any, usages: Any) -> CryptoKey:
    digest = _hmac_of("generateKey", algorithm)
    bits = members_of(algorithm).get("length") or _DIGESTS[digest]().block_size * 8
    secret = secrets.token_bytes(int(bits) // 8)
    return CryptoKey(secret, digest, bool(extractable), _usages_of(usages))


async def _export_key(form: Any, key: Any) -> ArrayBuffer:
    if not isinstance(key, CryptoKey) or form != "raw":
        _refuse(f'exportKey of the form "{js_string(form)}"')
    if not key.extractable:
        raise JsException("Attempt to export non-extractable HMAC key.", name="InvalidAccessError")
    return ArrayBuffer(key.secret)


def _usable(algorithm: Any, key: Any, usage: str) -> CryptoKey:
    name = _name(algorithm)
    if not isinstance(key, CryptoKey):
        raise js_type_error(f"crypto.subtle.{usage} needs a CryptoKey.")
    if name.upper() != "HMAC":
        raise JsException(
            f'Requested algorithm "{name}" does not match this CryptoKey\'s algorithm "HMAC".',
            name="InvalidAccessError",
        )
    if usage not in key.usages:
        raise JsException(
            f'Requested key usage "{usage}" does not match any usage listed in this CryptoKey.',
            name="InvalidAccessError",
        )
    return key


async def _sign(algorithm: Any, key: Any, data: Any) -> ArrayBuffer:
    return ArrayBuffer(_usable(algorithm, key, "sign").signature(to_bytes(data)))


async def _verify(algorithm: Any, key: Any, signature: Any, data: Any) -> bool:
    expected = _usable(algorithm, key, "verify").signature(to_bytes(data))
    return hmac.compare_digest(expected, to_bytes(signature))


def _timing_safe_equal(first: Any, second: Any) -> bool:
    one, other = to_bytes(first), to_bytes(second)
    if len(one) != len(other):
        raise js_type_error("Input buffers must have the same byte length.")
    return hmac.compare_digest(one, other)


def _refuse(what: str) -> NoReturn:
    raise JsException(
        f"crypto.subtle.{what} exists on the platform, not in localedge: digests and HMAC are "
        "here, and Python's hashlib and hmac work in both.",
        name="NotSupportedError",
    )


def _refusing(name: str) -> NativeFunction:
    # Differs: of crypto.subtle digests and HMAC with raw keys are here, ciphers and key pairs not.
    return NativeFunction(name, lambda *_arguments: _refuse(name))


_REFUSED: Final = ("decrypt", "deriveBits", "deriveKey", "encrypt", "unwrapKey", "wrapKey")
SUBTLE: Final[dict[str, Any]] = {
    **{name: _refusing(name) for name in _REFUSED},
    "digest": NativeFunction("digest", _digest),
    "exportKey": NativeFunction("exportKey", _export_key),
    "generateKey": NativeFunction("generateKey", _generate_key),
    "importKey": NativeFunction("importKey", _import_key),
    "sign": NativeFunction("sign", _sign),
    "timingSafeEqual": NativeFunction("timingSafeEqual", _timing_safe_equal),
    "verify": NativeFunction("verify", _verify),
}
