"""Where two answers, or two states, are not the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from localedge.port.verify.answers import Answer
from localedge.port.verify.canon import Canon
from localedge.port.verify.stored import Entry, State, Table

T = TypeVar("T")

# Of the connection, the server, the proxy in front, or the harness: not the worker's.
_IGNORED: Final = frozenset(
    {
        *("connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"),
        *("date", "server", "via", "alt-svc", "nel", "report-to", "reporting-endpoints"),
        *("server-timing", "expect-ct"),
    }
)
_IGNORED_PREFIXES: Final = ("x-localedge-", "cf-", "x-verify-")
_TRACEBACK: Final = "Traceback (most recent call last):"
_MODULE: Final = re.compile(r"^(?:\w+\.)+(?=\w+(?::|$))")
_ABSENT: Final = "(absent)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the sides differ: `where`, and what each has there, in canonical form."""

    where: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer in canonical form.

    Shape: `reason` is the last line of the traceback of a worker that failed, where it can be
    seen, `page` what the side told of it.
    """

    status: str
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    reason: str | None = None
    page: str = ""


def seen(answer: Answer, canon: Canon, origin: str) -> Seen:
    """What is compared of `answer`, whose server calls itself `origin`; its ids get numbers."""
    if answer.failure is not None:
        return Seen(f"no answer ({answer.failure})")
    if answer.outcome not in (None, "ok"):
        # Each side has its own page for a worker that failed.
        page = body_text(answer.body)
        reason = canon.known(_reason(page)) if _TRACEBACK in page else None
        return Seen(f"{answer.status} ({answer.outcome})", reason=reason, page=page)
    headers: dict[str, str] = {}
    for name, value in sorted(answer.headers, key=lambda line: line[0].lower()):
        name = name.lower()
        if name not in _IGNORED and not name.startswith(_IGNORED_PREFIXES):
            text = canon.text(_without(value, origin))
            # Lines of one name mean the same as one line with commas, except for cookies.
            between = "\n" if name == "set-cookie" else ", "
            headers[name] = f"{headers[name]}{between}{text}" if name in headers else text
    body = canon.text(_without(body_text(answer.body), origin))
    return Seen(str(answer.status), headers, body + ("\n(cut off here)" if answer.is_cut else ""))


def body_text(body: bytes) -> str:
    """A body as text; what is no UTF-8 in hex."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return f"0x{body.hex()}"


def _reason(page: str) -> str:
    """What was raised, without its module: below the last traceback, the line that is not indented.

    Shape: JSON has the traceback in one string.
    """
    with suppress(ValueError, LookupError, TypeError):
        page = json.loads(page)["error"]["traceback"]
    below = page.rpartition(_TRACEBACK)[2].split("\n")
    raised = next((line for line in below if line and not line[0].isspace()), "")
    return _MODULE.sub("", raised)


def _told(seen: Seen) -> str:
    return f"{seen.status}\n{seen.page}".rstrip()


def _without(text: str, origin: str) -> str:
    host = origin.partition("//")[2]
    for scheme in ("https", "http"):
        text = text.replace(f"{scheme}://{host}", "<origin>")
    return text


def answer_differences(ours: Seen, theirs: Seen) -> Iterator[Difference]:
    """Where two answers differ. Once the status does, of the rest only bodies are looked at."""
    if ours.status != theirs.status:
        yield Difference("status", _told(ours), _told(theirs))
        if not (ours.status.isdecimal() and theirs.status.isdecimal()):
            return
    elif None not in (ours.reason, theirs.reason) and ours.reason != theirs.reason:
        yield Difference("exception", ours.page, theirs.page)
    else:
        for name, left, right in _pairs(ours.headers, theirs.headers):
            if left != right:
                yield Difference(f"header {name}", left or _ABSENT, right or _ABSENT)
    if ours.body != theirs.body:
        yield Difference("body", *_readable(ours.body, theirs.body))


def _readable(ours: str, theirs: str) -> tuple[str, str]:
    """Both bodies laid out, if it is not the layout itself that differs."""
    left, right = _laid_out(ours), _laid_out(theirs)
    return (ours, theirs) if left == right else (left, right)


def _laid_out(body: str) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body


def state_differences(
    ours: State, theirs: State, our_canon: Canon, their_canon: Canon, tolerance_s: float
) -> Iterator[Difference]:
    """Where what is stored differs; expirations may be `tolerance_s` apart."""
    for binding, left, right in _pairs(ours.kv, theirs.kv):
        entries = _keyed(left or {}, our_canon), _keyed(right or {}, their_canon)
        for key, one, other in _pairs(*entries):
            yield from _entry_differences(f"KV {binding} {key!r}", one, other, tolerance_s)
    for binding, mine, its in _pairs(ours.schema, theirs.schema):
        for title, one_sql, other_sql in _pairs(mine or {}, its or {}):
            if one_sql != other_sql:
                place = f"D1 {binding} {title}"
                yield Difference(place, _or_absent(one_sql), _or_absent(other_sql))
    for binding, tables, others in _pairs(ours.d1, theirs.d1):
        for name, one_table, other_table in _pairs(tables or {}, others or {}):
            if one_table is None or other_table is None:
                continue
            rows = _rows(one_table, our_canon), _rows(other_table, their_canon)
            if rows[0] != rows[1]:
                yield Difference(f"D1 {binding} table {name}", *map("\n".join, rows))


def _keyed(entries: Mapping[str, Entry], canon: Canon) -> dict[str, Entry]:
    return {
        canon.known(key): Entry(
            canon.known(entry.value), canon.known(entry.metadata), entry.expiration
        )
        for key, entry in entries.items()
    }


def _entry_differences(
    place: str, ours: Entry | None, theirs: Entry | None, tolerance_s: float
) -> Iterator[Difference]:
    if ours is None or theirs is None:
        yield Difference(place, _present(ours), _present(theirs))
        return
    if ours.value != theirs.value:
        yield Difference(f"{place} value", *_readable(ours.value, theirs.value))
    if ours.metadata != theirs.metadata:
        yield Difference(f"{place} metadata", ours.metadata, theirs.metadata)
    left, right = ours.expiration, theirs.expiration
    if not _is_about(left, right, tolerance_s):
        yield Difference(f"{place} expiration", str(left), str(right))


def _is_about(one: int | None, other: int | None, tolerance_s: float) -> bool:
    if one is None or other is None:
        return one == other
    return abs(one - other) <= tolerance_s


def _rows(table: Table, canon: Canon) -> list[str]:
    """The rows, a line for each value, in an order that does not depend on their ids."""
    rows = sorted([canon.known(value) for value in row] for row in table.rows)
    return [
        f"{number}. {column} = {value}"
        for number, row in enumerate(rows, 1)
        for column, value in zip(table.columns, row, strict=False)
    ]


def _pairs(
    ours: Mapping[str, T], theirs: Mapping[str, T]
) -> Iterator[tuple[str, T | None, T | None]]:
    for key in sorted({*ours, *theirs}):
        yield key, ours.get(key), theirs.get(key)


def _present(value: Any) -> str:
    return _ABSENT if value is None else "(present)"


def _or_absent(text: str | None) -> str:
    return _ABSENT if text is None else text
