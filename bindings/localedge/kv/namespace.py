"""`env.KV`: the platform's methods, arguments, values, limits and texts over a Store.

Source: reference/kv-d1-contract.md section 1; workerd src/workerd/api/kv.c++ and miniflare
src/workers/kv/namespace.worker.ts, read 2026-12-01.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, ClassVar

from localedge.binding import JsBinding
from localedge.coercion import js_string
from localedge.kv.answers import (
    MAX_VALUE_BYTES,
    bulk_decoder,
    bulk_keys,
    bulk_value,
    collected,
    decoded,
    fail,
    is_array,
    key_after,
    listed,
    put_body,
    stored_metadata,
    value_too_large,
)
from localedge.kv.options import (
    GetOptions,
    argument,
    check_metadata,
    get_options,
    key_bytes,
    list_options,
    put_metadata,
    put_options,
    wrong_argument,
)
from localedge.kv.store import Entry, Reading, Store, StoreError
from localedge.stream import ReadableStream
from localedge.values import UNDEFINED, JsMap


class KvNamespace(JsBinding):
    """A namespace as worker code calls it."""

    kind: ClassVar[str] = "kv"
    js_class = "KvNamespace"
    js_methods: ClassVar[dict[str, str]] = {
        "get": "get",
        "getWithMetadata": "get_with_metadata",
        "put": "put",
        "delete": "delete",
        "list": "list",
    }

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, *args: Any) -> Any:
        """The value of a key, or of each of a list of keys.

        Shape: None for a key that has none; a Map for a list.
        Errors: JsException, as for every method.
        """
        if not args:
            raise wrong_argument("get", 1, "string or Array")
        options = get_options(argument(args, 1))
        if is_array(args[0]):
            return await self._bulk(args[0], options, with_metadata=False)
        entry = (await self._read(args[0], options)).entry
        return None if entry is None else decoded(entry.value, options.type)

    async def get_with_metadata(self, *args: Any) -> Any:
        """The value and the metadata of a key, or of each of a list of keys."""
        if not args:
            raise wrong_argument("getWithMetadata", 1, "Array or string")
        options = get_options(argument(args, 1))
        if is_array(args[0]):
            return await self._bulk(args[0], options, with_metadata=True)
        reading = await self._read(args[0], options)
        entry = reading.entry
        return {
            "value": None if entry is None else decoded(entry.value, options.type),
            "metadata": None
            if entry is None
            else stored_metadata(js_string(args[0]), entry.metadata),
            "cacheStatus": reading.cache_status,
        }

    async def _read(self, name: Any, options: GetOptions) -> Reading:
        key = key_bytes(js_string(name), "GET")
        cache_ttl_s = options.checked_cache_ttl_s("GET")
        try:
            return await self._store.get(key, cache_ttl_s=cache_ttl_s)
        except StoreError as exc:
            fail("GET", exc)

    async def _bulk(
        self, names: Sequence[Any], options: GetOptions, *, with_metadata: bool
    ) -> JsMap:
        decode = bulk_decoder(options.type)
        asked = bulk_keys(names, options)
        if asked.refusal is not None and not asked.keys:
            raise asked.refusal
        try:
            readings = await self._store.get_many(
                [name.encode() for name in asked.keys],
                cache_ttl_s=asked.cache_ttl_s,
                limit_bytes=MAX_VALUE_BYTES,
            )
        except StoreError as exc:
            fail("GET_BULK", exc)
        # Differs: keys that look like array indices vanish from the platform's Map; here they
        # stay (kv-d1-contract.md section 6).
        found = JsMap()
        for name, reading in zip(asked.keys, readings, strict=True):
            found[name] = bulk_value(name, reading.entry, decode, with_metadata=with_metadata)
        if asked.refusal is not None:
            raise asked.refusal
        return found

    async def put(self, *args: Any) -> Any:
        """A key has a new value, metadata and expiration; nothing of the old entry is left."""
        if not args:
            raise wrong_argument("put", 1, "string")
        if len(args) < 2:
            raise wrong_argument("put", 2, "string or Object")
        name, given = js_string(args[0]), argument(args, 2)
        options = put_options(given)
        key = key_bytes(name, "PUT")
        metadata = put_metadata(given)
        body = put_body(args[1])
        expiration = options.checked_expiration()
        check_metadata(metadata)
        if isinstance(body, ReadableStream):
            body = await collected(body)
        if len(body) > MAX_VALUE_BYTES:
            raise value_too_large(len(body))
        try:
            await self._store.put(key, Entry(body, metadata, expiration))
        except StoreError as exc:
            fail("PUT", exc)
        return UNDEFINED

    async def delete(self, *args: Any) -> Any:
        """A key has no value; it need not have had one."""
        if not args:
            raise wrong_argument("delete", 1, "string")
        key = key_bytes(js_string(args[0]), "DELETE")
        try:
            await self._store.delete(key)
        except StoreError as exc:
            fail("DELETE", exc)
        return UNDEFINED

    async def list(self, *args: Any) -> Any:
        """One page of the keys in bytewise order."""
        options = list_options(argument(args, 0))
        limit, prefix = options.checked_limit(), options.checked_prefix()
        after = key_after(options.cursor)
        try:
            page = await self._store.page(prefix=prefix, after=after, limit=limit)
        except StoreError as exc:
            fail("GET", exc)
        result: dict[str, Any] = {
            "keys": [listed(key) for key in page.keys],
            "list_complete": page.complete,
        }
        if not page.complete:
            result["cursor"] = base64.b64encode(page.last).decode()
        result["cacheStatus"] = page.cache_status
        return result
