"""crypto.subtle as tokens and signed requests use it: HMAC with raw keys."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from localedge.errors import JsException

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bench")]


async def imported(secret: str = "secret", usages: Any = None, **options: Any) -> Any:
    """A key as a worker imports one."""
    from js import Object, TextEncoder, crypto
    from pyodide.ffi import to_js

    algorithm = to_js(
        {"name": "HMAC", "hash": "SHA-256", **options}, dict_converter=Object.fromEntries
    )
    data = TextEncoder.new().encode(secret)
    wanted = to_js(usages or ["sign", "verify"])
    return await crypto.subtle.importKey("raw", data, algorithm, False, wanted)


async def test_a_signature_is_that_of_pythons_hmac() -> None:
    from js import TextEncoder, crypto

    data = TextEncoder.new().encode("/path?1")
    signature = await crypto.subtle.sign("HMAC", await imported(), data)

    assert signature.to_bytes() == hmac.digest(b"secret", b"/path?1", "sha256")


@pytest.mark.parametrize("digest", ["SHA-1", "SHA-384", "SHA-512"])
async def test_the_hash_of_the_key_counts(digest: str) -> None:
    from js import Object, Uint8Array, crypto
    from pyodide.ffi import to_js

    named = to_js({"name": digest}, dict_converter=Object.fromEntries)
    signature = await crypto.subtle.sign("HMAC", await imported(hash=named), Uint8Array.new([1, 2]))

    name = digest.replace("-", "").lower()
    assert signature.to_bytes() == hmac.digest(b"secret", b"\x01\x02", name)


async def test_a_signature_is_verified() -> None:
    from js import Uint8Array, crypto

    key = await imported()
    right = Uint8Array.new(list(hmac.digest(b"secret", b"\x07", hashlib.sha256)))

    assert await crypto.subtle.verify("HMAC", key, right, Uint8Array.new([7])) is True
    assert await crypto.subtle.verify("HMAC", key, right, Uint8Array.new([8])) is False
    assert (
        await crypto.subtle.verify("HMAC", key, Uint8Array.new([1]), Uint8Array.new([7])) is False
    )


async def test_a_key_shows_what_it_is_and_not_its_secret() -> None:
    from js import crypto

    key = await imported(usages=["verify"])

    assert (key.type, key.extractable, key.algorithm.hash.name) == ("secret", False, "SHA-256")
    assert key.usages.to_py() == ["verify"]
    with pytest.raises(JsException, match="non-extractable"):
        await crypto.subtle.exportKey("raw", key)


async def test_a_made_key_is_random_and_can_be_taken_out() -> None:
    from js import Object, crypto
    from pyodide.ffi import to_js

    algorithm = to_js({"name": "HMAC", "hash": "SHA-512"}, dict_converter=Object.fromEntries)
    keys = [await crypto.subtle.generateKey(algorithm, True, to_js(["sign"])) for _ in range(2)]
    first, second = [(await crypto.subtle.exportKey("raw", key)).to_bytes() for key in keys]

    assert len(first) == 128
    assert first != second


async def test_a_key_does_only_what_it_is_for() -> None:
    from js import Uint8Array, crypto

    key = await imported(usages=["verify"])

    with pytest.raises(JsException, match='Requested key usage "sign" does not match') as caught:
        await crypto.subtle.sign("HMAC", key, Uint8Array.new([1]))
    assert caught.value.name == "InvalidAccessError"
    with pytest.raises(JsException, match='Requested algorithm "AES-GCM" does not match'):
        await crypto.subtle.verify("AES-GCM", key, Uint8Array.new([1]), Uint8Array.new([1]))


@pytest.mark.parametrize(
    ("secret", "usages", "options", "name"),
    [
        ("", None, {}, "DataError"),
        ("secret", ["encrypt"], {}, "SyntaxError"),
        ("secret", None, {"name": "AES-GCM"}, "NotSupportedError"),
        ("secret", None, {"hash": "SHA-3"}, "NotSupportedError"),
    ],
)
async def test_a_key_that_cannot_be_is_refused(
    secret: str, usages: Any, options: dict[str, str], name: str
) -> None:
    with pytest.raises(JsException) as caught:
        await imported(secret, usages, **options)

    assert caught.value.name == name


async def test_what_is_not_here_says_what_works_instead() -> None:
    from js import crypto

    with pytest.raises(JsException, match="hashlib and hmac work in both"):
        await crypto.subtle.encrypt("AES-GCM", None, None)


async def test_buffers_are_compared_without_telling_how_far_they_agree() -> None:
    from js import Uint8Array, crypto

    one, other, short = (Uint8Array.new(items) for items in ([1, 2], [1, 3], [1]))

    assert crypto.subtle.timingSafeEqual(one, one) is True
    assert crypto.subtle.timingSafeEqual(one, other) is False
    with pytest.raises(JsException, match="same byte length"):
        crypto.subtle.timingSafeEqual(one, short)
