"""Values of the platform as bytes, on their way from one worker to another.

Source: developers.cloudflare.com/workers/runtime-apis/rpc (supported types), read 2026-12-01.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types

from localedge.errors import JsException
from localedge.values import (
    UNDEFINED,
    BigInt,
    JsDate,
    JsErrorValue,
    JsFunction,
    JsMap,
    JsObject,
    JsSet,
    PyObject,
    Undefined,
)

MOST_BYTES: Final = 15 * 1024 * 1024
# Differs: the platform takes 32 MiB, and functions, streams, requests and responses too.
_UNDEFINED, _BIGINT, _MAP, _SET, _DATE, _ERROR = range(1, 7)


def pack(value: Any) -> bytes:
    """`value` as bytes.

    Errors: JsException, a DataCloneError for what cannot travel, a TypeError for too much of it.
    """
    try:
        data: bytes = msgpack.packb(
            value, default=_extended, strict_types=True, unicode_errors="surrogatepass"
        )
    except RecursionError as exc:
        raise JsException("The value is nested too deeply.", name="DataCloneError") from exc
    if len(data) > MOST_BYTES:
        raise JsException(
            f"Serialized RPC arguments or return values are limited to {MOST_BYTES} bytes by "
            f"localedge (32 MiB on the platform), but the size of this value was: {len(data)} "
            "bytes.",
            name="TypeError",
        )
    return data


def unpack(data: bytes) -> Any:
    """The value that `data` is."""
    return msgpack.unpackb(
        data, ext_hook=_restored, strict_map_key=False, unicode_errors="surrogatepass"
    )


def _extended(value: Any) -> Any:
    match value:
        case Undefined():
            return msgpack.ExtType(_UNDEFINED, b"")
        case BigInt():
            return msgpack.ExtType(_BIGINT, str(int(value)).encode())
        case JsMap():
            return msgpack.ExtType(_MAP, pack([[key, item] for key, item in value.items()]))
        case JsSet():
            return msgpack.ExtType(_SET, pack(list(value)))
        case JsDate():
            return msgpack.ExtType(_DATE, pack(float(value.epoch_ms)))
        case JsErrorValue():
            return msgpack.ExtType(_ERROR, pack([value.name, value.message]))
        case dict():
            return dict(value)
    raise JsException(
        f'Could not serialize object of type "{_named(value)}". This type does not support '
        "serialization.",
        name="DataCloneError",
    )


def _named(value: Any) -> str:
    match value:
        case PyObject(inner):
            return type(inner).__name__
        case JsFunction():
            return "Function"
        case JsObject():
            return value.js_class
    return type(value).__name__


def _restored(code: int, data: bytes) -> Any:
    match code:
        case 1:
            return UNDEFINED
        case 2:
            return BigInt(data.decode())
        case 3:
            return JsMap(unpack(data))
        case 4:
            return JsSet(unpack(data))
        case 5:
            return JsDate(unpack(data))
    name, message = unpack(data)
    return JsErrorValue(name, message)
