"""KV as a person looks at it: namespaces, keys, values, and what locations have cached of them.

Writes go through the binding itself, so that limits and texts are the platform's.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from pydantic import JsonValue

from localedge import clock
from localedge.errors import Exit, JsException, OperatorError
from localedge.inspector.kv_models import (
    BindingShown,
    CopyShown,
    KeyPage,
    KeyShown,
    NamespaceShown,
    Put,
    ValueShown,
)
from localedge.kv import looking
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import RedisConnection
from localedge.kv.store import Entry, Listed, StoreError, UnavailableError
from localedge.project.models import Project

SHOWN_BYTES: Final = 65_536
"""How much of a value is shown, and can be edited: it all goes to the page at once."""
MOST_KEYS: Final = 200
_COPY_CHARACTERS: Final = 200
_HEX_PER_LINE: Final = 16


def names(projects: Iterable[Project]) -> dict[str, str]:
    """The namespaces of all workers by id, each with a name for people."""
    found: dict[str, dict[str, None]] = {}
    for project in projects:
        for entry in project.kv_namespaces:
            found.setdefault(entry.storage_id, {})[entry.binding] = None
    return {id_: name_of(id_, ", ".join(bindings)) for id_, bindings in found.items()}


def name_of(id_: str, bindings: str) -> str:
    """What a store is called: by its bindings, and by its id where that is another word."""
    return bindings if bindings == id_ else f"{bindings} ({id_})"


async def namespaces(
    connection: RedisConnection, projects: Iterable[Project]
) -> tuple[NamespaceShown, ...]:
    """The namespaces of all workers, each once, in the order of the configurations."""
    found: dict[str, list[BindingShown]] = {}
    eventual: set[str] = set()
    for project in projects:
        for entry in project.kv_namespaces:
            binding = BindingShown(worker=project.name, binding=entry.binding)
            found.setdefault(entry.storage_id, []).append(binding)
            if project.local.consistency == "eventual":
                eventual.add(entry.storage_id)
    with _told():
        return tuple(
            [
                NamespaceShown(
                    id=id_,
                    bindings=tuple(bindings),
                    consistency="eventual" if id_ in eventual else "strong",
                    keys=await looking.count_of(connection, id_),
                    locations=await looking.locations_of(connection, id_)
                    if id_ in eventual
                    else {},
                )
                for id_, bindings in found.items()
            ]
        )


async def keys(
    connection: RedisConnection,
    namespace_id: str,
    *,
    prefix: str = "",
    cursor: str | None = None,
    limit: int = 50,
) -> KeyPage:
    """One page of the keys that begin with `prefix`. Errors: OperatorError for a bad cursor."""
    if not 1 <= limit <= MOST_KEYS:
        raise OperatorError("kv/limit", f"a page has 1 to {MOST_KEYS} keys, not {limit}.")
    store = connection.store(namespace_id)
    with _told():
        page = await store.page(
            prefix=prefix.encode("utf-8", "replace"), after=_after(cursor), limit=limit
        )
        sizes = await looking.sizes_of(connection, namespace_id, [key.name for key in page.keys])
    return KeyPage(
        keys=tuple(_key(key, size) for key, size in zip(page.keys, sizes, strict=True)),
        cursor=None if page.complete else base64.urlsafe_b64encode(page.last).decode(),
        now_ms=clock.now_ms(),
    )


async def value(
    connection: RedisConnection, namespace_id: str, key: str, *, with_copies: bool = True
) -> ValueShown:
    """A key's value, and what locations have of it. Errors: OperatorError when there is none."""
    name = key.encode("utf-8", "replace")
    found = looking.Found((), complete=True)
    with _told():
        entry = (await connection.store(namespace_id).get(name, cache_ttl_s=0)).entry
        if with_copies:
            found = await looking.copies_of(connection, namespace_id, name)
    copies = tuple(_copy(copy, entry) for copy in found.copies)
    if entry is None and not copies:
        raise no_key(key)
    data = b"" if entry is None else entry.value
    part = data[:SHOWN_BYTES]
    text = _text(part)
    return ValueShown(
        key=key,
        size_bytes=len(data),
        shown_bytes=len(part),
        text=text,
        json_text=_indented(text) if len(part) == len(data) and text is not None else None,
        hex=hex_lines(part),
        metadata=None if entry is None else _metadata(entry.metadata),
        expiration=None if entry is None else entry.expiration,
        now_ms=clock.now_ms(),
        copies=copies,
        copies_complete=found.complete,
    )


async def whole(connection: RedisConnection, namespace_id: str, key: str) -> bytes:
    """All bytes of a key's value. Errors: OperatorError when there is none."""
    with _told():
        store = connection.store(namespace_id)
        entry = (await store.get(key.encode("utf-8", "replace"), cache_ttl_s=0)).entry
    if entry is None:
        raise no_key(key)
    return entry.value


async def put(connection: RedisConnection, namespace_id: str, key: str, given: Put) -> None:
    """The key has this value and nothing of its old one.

    Errors: OperatorError with the platform's text for what `env.KV.put` refuses.
    """
    if (given.text is None) == (given.hex is None):
        raise OperatorError("kv/value", 'exactly one of "text" and "hex" is needed.')
    body = given.text if given.text is not None else _bytes_of(given.hex or "")
    options: dict[str, Any] = {
        "metadata": given.metadata,
        "expiration": given.expiration,
        "expirationTtl": given.expiration_ttl,
    }
    with _told():
        await KvNamespace(connection.store(namespace_id)).put(
            key, body, {name: option for name, option in options.items() if option is not None}
        )


async def delete(connection: RedisConnection, namespace_id: str, key: str) -> None:
    """The key has no value. Errors: OperatorError as for `put`."""
    with _told():
        await KvNamespace(connection.store(namespace_id)).delete(key)


def no_key(key: str) -> OperatorError:
    """The error for a key that has no value, anywhere."""
    return OperatorError("kv/no-key", f"the key {json.dumps(key)} has no value.")


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except JsException as exc:
        if isinstance(exc.__cause__, UnavailableError):
            raise _unreachable(exc.__cause__) from exc
        raise OperatorError("kv/refused", exc.message) from exc
    except UnavailableError as exc:
        raise _unreachable(exc) from exc
    except StoreError as exc:
        raise OperatorError("kv/corrupt", str(exc)) from exc


def _unreachable(exc: Exception) -> OperatorError:
    return OperatorError(
        "kv/unreachable",
        f"the KV server does not answer: {exc}.",
        "It is started again by itself; with redis_url, see that your own runs.",
        exit=Exit.UNREACHABLE,
    )


def _after(cursor: str | None) -> bytes:
    try:
        return base64.urlsafe_b64decode(cursor or "")
    except (ValueError, binascii.Error) as exc:
        raise OperatorError("kv/cursor", f"{cursor!r} is not a cursor of this list.") from exc


def _key(key: Listed, size_bytes: int) -> KeyShown:
    return KeyShown(
        name=key.name.decode("utf-8", "replace"),
        size_bytes=size_bytes,
        expiration=key.expiration,
        metadata=_metadata(key.metadata),
    )


def _copy(copy: looking.Copy, stored: Entry | None) -> CopyShown:
    return CopyShown(
        location=copy.location,
        text=None
        if copy.entry is None
        else copy.entry.value[:_COPY_CHARACTERS].decode("utf-8", "replace"),
        is_newest=copy.entry == stored,
        age_ms=copy.age_ms,
        left_ms=copy.left_ms,
    )


def _metadata(text: bytes | None) -> JsonValue:
    """What the metadata says; as text when it is no JSON."""
    if text is None:
        return None
    shown = text.decode("utf-8", "replace")
    try:
        found: JsonValue = json.loads(shown)
    except ValueError:
        return shown
    return found


def _text(part: bytes) -> str | None:
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError as exc:
        # A value that was cut may end within a character.
        is_cut = len(part) == SHOWN_BYTES and exc.start >= len(part) - 3
        return part[: exc.start].decode("utf-8") if is_cut else None


def _indented(text: str) -> str | None:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def hex_lines(data: bytes) -> str:
    """`data` as lines of offset, bytes, and what of them is ASCII."""
    lines = []
    for at in range(0, len(data), _HEX_PER_LINE):
        part = data[at : at + _HEX_PER_LINE]
        ascii_ = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08x}  {part.hex(' '):<47}  {ascii_}")
    return "\n".join(lines)


def _bytes_of(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as exc:
        raise OperatorError(
            "kv/hex",
            "that is not hexadecimal.",
            "Two digits for each byte, with spaces or without.",
        ) from exc
