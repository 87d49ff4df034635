"""The arguments of KV's methods: names, numbers and options, coerced as the platform does.

Source: workerd src/workerd/api/kv.h, kv.c++ and src/workerd/jsg/value.h, struct.h, read
2026-12-01; reference/kv-d1-contract.md sections 1.3, 1.4, 1.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from localedge import clock
from localedge.coercion import js_number, js_string
from localedge.errors import JsException, js_type_error
from localedge.kv.jsontext import stringify
from localedge.values import UNDEFINED, BigInt, JsMap, JsObject, Undefined

MAX_KEY_BYTES: Final = 512
MAX_METADATA_BYTES: Final = 1024
MIN_CACHE_TTL_S: Final = 30
DEFAULT_CACHE_TTL_S: Final = 60
MIN_LIFE_S: Final = 60
MAX_PAGE_KEYS: Final = 1000
_INT32_MIN: Final = -(2**31)
_INT32_MAX: Final = 2**31 - 1
_NO_OPTIONS: Final[Mapping[str, Any]] = {}


def failed(method: str, status: int, text: str) -> JsException:
    """The error for an answer of the store that is not a success."""
    return JsException(f"KV {method} failed: {status} {text}")


def wrong_argument(method: str, position: int, expected: str) -> JsException:
    """The TypeError for an argument that is missing or cannot be what the method takes."""
    return js_type_error(
        f"Failed to execute '{method}' on 'KvNamespace': "
        f"parameter {position} is not of type '{expected}'."
    )


def argument(args: Sequence[Any], position: int) -> Any:
    """The argument at `position`, undefined if it was not given."""
    return args[position] if position < len(args) else UNDEFINED


def int32(value: Any) -> int:
    """`value` as the binding's integers: truncated, 0 for what is no finite number.

    Errors: TypeError outside 32 bits, and for a BigInt.
    """
    if type(value) is int and _INT32_MIN <= value <= _INT32_MAX:
        return value
    if isinstance(value, BigInt):
        raise js_type_error("Cannot convert a BigInt value to a number")
    number = js_number(value)
    if not math.isfinite(number):
        return 0
    # Truncated first: what is left of the fraction cannot be out of range.
    integer = int(number)
    if not _INT32_MIN <= integer <= _INT32_MAX:
        raise js_type_error(
            f"Value out of range. Must be between {_INT32_MIN} and {_INT32_MAX} (inclusive)."
        )
    return integer


def dictionary(value: Any, method: str, position: int, name: str) -> Mapping[str, Any]:
    """The options that `value` holds: none for null and undefined, and for objects of others.

    Errors: TypeError for a number, text or other primitive.
    """
    if value is None or isinstance(value, Undefined | JsMap):
        # A Map's entries are no properties.
        return _NO_OPTIONS
    if isinstance(value, dict):
        return value
    if isinstance(value, bool | int | float | str):
        raise wrong_argument(method, position, name)
    return _NO_OPTIONS


def _integer_option(options: Mapping[str, Any], name: str) -> int | None:
    value = options.get(name, UNDEFINED)
    return None if value is UNDEFINED else int32(value)


def key_bytes(name: str, method: str) -> bytes:
    """The bytes of one key. Errors: what the binding and the store say of a name not allowed."""
    if name == "":
        raise js_type_error("Key name cannot be empty.")
    if name in (".", ".."):
        raise js_type_error(f'"{name}" is not allowed as a key name.')
    try:
        key = name.encode()
    except UnicodeEncodeError:
        key = name.encode("utf-8", "surrogatepass")
        check_key_length(key, method)
        raise failed(method, 400, "Could not URL-decode key name") from None
    check_key_length(key, method)
    return key


def check_bulk_key(name: str) -> None:
    """Nothing, for a key that a bulk read may name. Errors: the store's 400 and 414."""
    if name == "":
        raise failed("GET_BULK", 400, "Key names must not be empty")
    if name in (".", ".."):
        raise failed("GET_BULK", 400, f'Illegal key name "{name}". Please use a different name.')
    check_key_length(name.encode(), "GET_BULK")


def check_key_length(key: bytes, method: str) -> None:
    """Nothing, for a key of at most 512 bytes. Errors: the store's 414."""
    if len(key) > MAX_KEY_BYTES:
        raise failed(
            method,
            414,
            f"UTF-8 encoded length of {len(key)} exceeds key length limit of {MAX_KEY_BYTES}.",
        )


def well_formed(text: str) -> str:
    """`text` as it arrives where lone surrogates are no text: each of their bytes is replaced."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class GetOptions:
    """How a value is read. `type` None is the default; `cache_ttl_s` is as given, unchecked."""

    type: str | None = None
    cache_ttl_s: int | None = None

    def checked_cache_ttl_s(self, method: str) -> int:
        """How old an answer may be, in seconds. Errors: the store's 400 below its minimum."""
        if self.cache_ttl_s is None:
            return DEFAULT_CACHE_TTL_S
        if self.cache_ttl_s < MIN_CACHE_TTL_S:
            raise failed(
                method,
                400,
                f"Invalid cache_ttl of {self.cache_ttl_s}. "
                f"Cache TTL must be at least {MIN_CACHE_TTL_S}.",
            )
        return self.cache_ttl_s


_DEFAULTS: Final = GetOptions()


def get_options(value: Any) -> GetOptions:
    """The second argument of a read: a type's name, or an object with `type` and `cacheTtl`."""
    if value is UNDEFINED or value is None or isinstance(value, JsMap):
        return _DEFAULTS
    if isinstance(value, dict):
        kind = value.get("type", UNDEFINED)
        return GetOptions(
            None if kind is UNDEFINED else js_string(kind), _integer_option(value, "cacheTtl")
        )
    if isinstance(value, list | bytes | JsObject) or not isinstance(
        value, bool | int | float | str
    ):
        return _DEFAULTS
    return GetOptions(js_string(value))


@dataclass(frozen=True, slots=True)
class PutOptions:
    """How long a value is kept, as given: nothing is checked yet."""

    expiration: int | None = None
    expiration_ttl_s: int | None = None

    def checked_expiration(self) -> int | None:
        """When the entry ends, in seconds since the epoch. Errors: the store's 400.

        Source: miniflare src/workers/kv/validator.worker.ts, read 2026-12-01.
        """
        now_s = clock.now_s()
        if self.expiration_ttl_s is not None:
            ttl_s = self.expiration_ttl_s
            if ttl_s <= 0:
                raise _bad_option("expiration_ttl", ttl_s, "Please specify integer greater than 0.")
            if ttl_s < MIN_LIFE_S:
                raise _bad_option(
                    "expiration_ttl", ttl_s, f"Expiration TTL must be at least {MIN_LIFE_S}."
                )
            return now_s + ttl_s
        if self.expiration is None:
            return None
        if self.expiration <= now_s:
            raise _bad_option(
                "expiration",
                self.expiration,
                "Please specify integer greater than the current number of seconds since the "
                "UNIX epoch.",
            )
        if self.expiration < now_s + MIN_LIFE_S:
            raise _bad_option(
                "expiration",
                self.expiration,
                f"Expiration times must be at least {MIN_LIFE_S} seconds in the future.",
            )
        return self.expiration


def _bad_option(name: str, value: int, rule: str) -> JsException:
    return failed("PUT", 400, f"Invalid {name} of {value}. {rule}")


_UNDEFINED_TEXT: Final = b"undefined"
_PLAIN_PUT: Final = PutOptions()


def put_options(value: Any) -> PutOptions:
    """The third argument of `put`. Errors: TypeError for numbers out of range."""
    options = dictionary(value, "put", 3, "PutOptions")
    if not options:
        return _PLAIN_PUT
    return PutOptions(
        _integer_option(options, "expiration"),
        _integer_option(options, "expirationTtl"),
    )


def put_metadata(value: Any) -> bytes | None:
    """The metadata in the third argument of `put` as JSON, None if there is none.

    Shape: what has no JSON form (a function) is the text `undefined`, which is no JSON.
    Errors: TypeError for a BigInt.
    """
    if not isinstance(value, dict) or isinstance(value, JsMap):
        return None
    metadata = value.get("metadata")
    if metadata is None or metadata is UNDEFINED:
        return None
    text = stringify(metadata)
    return _UNDEFINED_TEXT if text is None else text.encode()


def check_metadata(metadata: bytes | None) -> None:
    """Nothing, for metadata that can be stored. Errors: the store's 413, and 500 for no JSON."""
    if metadata is not None and len(metadata) > MAX_METADATA_BYTES:
        raise failed(
            "PUT",
            413,
            f"Metadata length of {len(metadata)} exceeds limit of {MAX_METADATA_BYTES}.",
        )
    if metadata == _UNDEFINED_TEXT:
        raise failed("PUT", 500, "Internal Server Error")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Which keys a page has. `limit` as given; None where the platform ignores it."""

    limit: int | None = None
    prefix: str | None = None
    cursor: str | None = None

    def checked_limit(self) -> int:
        """How many keys a page has at most. Errors: the store's 400."""
        if self.limit is None:
            return MAX_PAGE_KEYS
        if self.limit > MAX_PAGE_KEYS:
            raise failed(
                "GET",
                400,
                f"Invalid key_count_limit of {self.limit}. "
                f"Please specify an integer less than {MAX_PAGE_KEYS}.",
            )
        return self.limit

    def checked_prefix(self) -> bytes:
        """The prefix's bytes. Errors: the store's 414."""
        prefix = well_formed(self.prefix or "").encode()
        check_key_length(prefix, "GET")
        return prefix


def list_options(value: Any) -> ListOptions:
    """The argument of `list`. Errors: TypeError for a primitive, or a limit out of range."""
    options = dictionary(value, "list", 1, "ListOptions")
    limit = _integer_option(options, "limit")
    return ListOptions(
        limit if limit is not None and limit > 0 else None,
        _text_option(options, "prefix"),
        _text_option(options, "cursor"),
    )


def _text_option(options: Mapping[str, Any], name: str) -> str | None:
    value = options.get(name)
    return None if value is None or value is UNDEFINED else js_string(value)
