"""Between the namespace's methods and its store: values, metadata, cursors and errors.

Source: workerd src/workerd/api/kv.c++ and miniflare src/workers/kv/namespace.worker.ts, read
2026-12-01.
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Never

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.kv.jsontext import parse
from localedge.kv.options import GetOptions, check_bulk_key, failed, well_formed
from localedge.kv.store import (
    CorruptError,
    Entry,
    Listed,
    StoreError,
    TooLargeError,
    WriteRateError,
)
from localedge.stream import ReadableStream, one_chunk
from localedge.values import UNDEFINED, JsSet

logger = logging.getLogger(__name__)

# Differs: the limit of a bulk read is in stored bytes; the local emulator counts UTF-16 units.
MAX_VALUE_BYTES: Final = 26_214_400
MAX_BULK_KEYS: Final = 100
_UNSUPPORTED_VALUE: Final = (
    "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values."
)


def _text(value: bytes) -> Any:
    return value.decode("utf-8", "replace")


def _json(value: bytes) -> Any:
    return parse(value.decode("utf-8", "replace"))


def _stream(value: bytes) -> Any:
    return ReadableStream(one_chunk(value))


_DECODERS: Final[dict[str | None, Callable[[bytes], Any]]] = {
    None: _text,
    "text": _text,
    "json": _json,
    "arrayBuffer": bytes,
    "stream": _stream,
}
_BULK_DECODERS: Final[dict[str | None, Callable[[bytes], Any]]] = {
    None: _text,
    "": _text,
    "text": _text,
    "json": _json,
}


def is_array(value: Any) -> bool:
    """Whether `value` is an Array to JavaScript."""
    return isinstance(value, list) and not isinstance(value, JsSet)


def fail(method: str, error: StoreError) -> Never:
    """The platform's form of what the store says."""
    match error:
        case WriteRateError():
            raise failed(method, 429, "Too Many Requests") from error
        case TooLargeError():
            raise failed(method, 413, "Total size of request exceeds the limit of 25MB") from error
        case CorruptError():
            raise failed(method, 500, str(error)) from error
    # The worker gets the platform's words; why there is no answer is for who runs the server.
    logger.error("kv server does not answer", extra={"method": method, "error": str(error)})
    raise failed(method, 500, "Internal Server Error") from error


def decoded(value: bytes, kind: str | None) -> Any:
    """A stored value as a single read gives it. Errors: TypeError for an unknown `kind`."""
    decode = _DECODERS.get(kind)
    if decode is None:
        raise js_type_error(
            'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".'
        )
    return decode(value)


def stored_metadata(name: str, text: bytes | None) -> Any:
    """What the metadata's JSON says. Errors: the store's 500 when it is no JSON."""
    if text is None:
        return None
    try:
        return parse(text.decode())
    except (UnicodeDecodeError, JsException) as exc:
        raise failed(
            "GET", 500, f'The stored entry of key "{name}" is corrupt: its metadata is no JSON'
        ) from exc


def bulk_decoder(kind: str | None) -> Callable[[bytes], Any]:
    """How a bulk read of `kind` decodes. Errors: the store's 400 for a kind it has not."""
    decode = _BULK_DECODERS.get(kind)
    if decode is None:
        raise failed("GET_BULK", 400, f'"{kind}" is not a valid type. Use "json" or "text"')
    return decode


@dataclass(frozen=True, slots=True)
class BulkKeys:
    """What a bulk read is asked for.

    Shape: `keys` are those up to the first that is not allowed, each once; `refusal` is what is
    said of that one, once the values before it have been read; `cache_ttl_s` is how old answers
    may be.
    """

    keys: list[str]
    cache_ttl_s: int
    refusal: JsException | None


def bulk_keys(names: Sequence[Any], options: GetOptions) -> BulkKeys:
    """The keys asked for. Errors: the store's 400 for too many or none."""
    if len(names) > MAX_BULK_KEYS:
        raise failed("GET_BULK", 400, f"You can request a maximum of {MAX_BULK_KEYS} keys")
    if not names:
        raise failed("GET_BULK", 400, "You must request a minimum of 1 key")
    asked = dict.fromkeys(well_formed(js_string(name)) for name in names)
    allowed: list[str] = []
    cache_ttl_s = 0
    for key in asked:
        try:
            check_bulk_key(key)
            cache_ttl_s = options.checked_cache_ttl_s("GET_BULK")
        except JsException as refusal:
            return BulkKeys(allowed, cache_ttl_s, refusal)
        allowed.append(key)
    return BulkKeys(allowed, cache_ttl_s, None)


def bulk_value(
    name: str, entry: Entry | None, decode: Callable[[bytes], Any], *, with_metadata: bool
) -> Any:
    """What the Map of a bulk read has for one key. Errors: 400 for a value that is no JSON."""
    if entry is None:
        return None
    try:
        # A bulk answer is decoded by a TextDecoder, which takes a byte order mark away.
        value = decode(entry.value.removeprefix(b"\xef\xbb\xbf"))
    except JsException as exc:
        raise failed(
            "GET_BULK", 400, "At least one of the requested keys corresponds to a non-json value"
        ) from exc
    if value is None or not with_metadata:
        return value
    return {"value": value, "metadata": stored_metadata(name, entry.metadata)}


def put_body(value: Any) -> bytes | ReadableStream:
    """The bytes that `put` stores for `value`, or the stream of them. Errors: TypeError."""
    if isinstance(value, str):
        # A lone surrogate is stored as the three bytes that it would have.
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes | ReadableStream):
        return value
    if value is None or value is UNDEFINED or isinstance(value, bool | int | float):
        return js_string(value).encode()
    raise js_type_error(_UNSUPPORTED_VALUE)


async def collected(stream: ReadableStream) -> bytes:
    """All of `stream`, measured while it is read; beyond the limit it is only counted."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in stream:
        size += len(chunk)
        if size > MAX_VALUE_BYTES:
            chunks.clear()
        else:
            chunks.append(chunk)
    if size > MAX_VALUE_BYTES:
        raise value_too_large(size)
    return b"".join(chunks)


def value_too_large(size: int) -> JsException:
    """The store's 413 for a value of `size` bytes."""
    return failed("PUT", 413, f"Value length of {size} exceeds limit of {MAX_VALUE_BYTES}.")


_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


def key_after(cursor: str | None) -> bytes:
    """The key that a cursor stands for; any text is one, as base64 with its mistakes ignored.

    Source: miniflare src/workers/shared/keyvalue.worker.ts, read 2026-12-01.
    """
    if not cursor:
        return b""
    digits = _BASE64.sub("", cursor.partition("=")[0].replace("-", "+").replace("_", "/"))
    digits = digits[:-1] if len(digits) % 4 == 1 else digits
    after = base64.b64decode(digits + "=" * (-len(digits) % 4))
    return after.decode("utf-8", "replace").encode()


def listed(key: Listed) -> dict[str, Any]:
    """One key of a page as the platform shows it: what it does not have is absent."""
    found: dict[str, Any] = {"name": key.name.decode("utf-8", "replace")}
    if key.expiration is not None:
        found["expiration"] = key.expiration
    if key.metadata is not None:
        found["metadata"] = stored_metadata(found["name"], key.metadata)
    return found
