"""crypto: random values and digests."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from typing import Any, Final, NoReturn

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.sdk.web.buffers import ArrayBuffer, to_bytes
from localedge.values import JsBuffer, NativeFunction

_DIGESTS: Final = {
    "MD5": hashlib.md5,
    "SHA-1": hashlib.sha1,
    "SHA-256": hashlib.sha256,
    "SHA-384": hashlib.sha384,
    "SHA-512": hashlib.sha512,
}


def _random_values(target: Any) -> Any:
    if not isinstance(target, JsBuffer):
        raise js_type_error("getRandomValues needs a typed array.")
    target.view[:] = secrets.token_bytes(len(target.view))
    return target


async def _digest(algorithm: Any, data: Any) -> ArrayBuffer:
    given = algorithm.get("name", "") if isinstance(algorithm, dict) else algorithm
    make = _DIGESTS.get(js_string(given).upper())
    if make is None:
        raise JsException(f"Unrecognized digest algorithm: {given}", name="NotSupportedError")
    return ArrayBuffer(make(to_bytes(data)).digest())


def _refused(name: str) -> NativeFunction:
    # Differs: of crypto.subtle only digest is here; Python's hmac and hashlib work in both places.
    def refuse(*_arguments: Any) -> NoReturn:
        raise JsException(
            f"crypto.subtle.{name} exists on the platform, not in localedge: Python's hmac and "
            "hashlib work in both.",
            name="NotSupportedError",
        )

    return NativeFunction(name, refuse)


_SUBTLE: Final = (
    "decrypt",
    "deriveBits",
    "encrypt",
    "exportKey",
    "generateKey",
    "importKey",
    "sign",
    "verify",
)
CRYPTO: Final = {
    "getRandomValues": NativeFunction("getRandomValues", _random_values),
    "randomUUID": NativeFunction("randomUUID", lambda: str(uuid.uuid4())),
    "subtle": {"digest": NativeFunction("digest", _digest), **{n: _refused(n) for n in _SUBTLE}},
}
