"""JavaScript's own objects: Object, JSON, Array, Map, Set, Date, Promise, Error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from localedge import clock
from localedge.coercion import js_number, js_string, js_truthy
from localedge.errors import JsException, js_type_error
from localedge.jsmembers import own
from localedge.jsproxy import MAX_SAFE_INTEGER, listed
from localedge.kv.jsontext import parse as parse_json
from localedge.sdk.web.functions import FUNCTIONS
from localedge.sdk.web.response import has_json, stringified
from localedge.sdk.web.streams import as_error, settled
from localedge.values import (
    UNDEFINED,
    JsDate,
    JsErrorValue,
    JsMap,
    JsPromise,
    JsSet,
    NativeClass,
    NativeFunction,
)


def functions(**named: Callable[..., Any]) -> dict[str, NativeFunction]:
    """Functions of the platform by their names."""
    return {name: NativeFunction(name, function) for name, function in named.items()}


def _pairs(entries: Any) -> list[list[Any]]:
    if isinstance(entries, JsMap):
        return [[key, value] for key, value in entries.items()]
    items = listed(list(entries) if hasattr(entries, "entries") else entries)
    if items is None:
        raise js_type_error(f"{js_string(entries)} is not iterable")
    return [listed(item) or [UNDEFINED, UNDEFINED] for item in items]


def _from_entries(entries: Any) -> dict[str, Any]:
    return {js_string(pair[0]): pair[1] for pair in _pairs(entries)}


def _assign(target: Any, *sources: Any) -> Any:
    for source in sources:
        target.update(own(source))
    return target


OBJECT = NativeClass(
    "Object",
    lambda value=UNDEFINED: {} if value in (UNDEFINED, None) else value,
    functions(
        assign=_assign,
        entries=lambda value: [[key, item] for key, item in own(value).items()],
        freeze=lambda value: value,
        fromEntries=_from_entries,
        hasOwn=lambda value, name: js_string(name) in own(value),
        keys=lambda value: list(own(value)),
        values=lambda value: list(own(value).values()),
    ),
    call=lambda value=UNDEFINED: {} if value in (UNDEFINED, None) else value,
)


def _parse(text: Any) -> Any:
    return parse_json(js_string(text))


def _stringify(value: Any, _replacer: Any = UNDEFINED, space: Any = UNDEFINED) -> Any:
    if not has_json(value):
        return UNDEFINED
    indent = None if space in (UNDEFINED, None) else space
    return stringified(value, int(indent) if isinstance(indent, float) else indent)


JSON = {
    "parse": NativeFunction("parse", _parse),
    "stringify": NativeFunction("stringify", _stringify),
}


def _new_array(*items: Any) -> list[Any]:
    if len(items) == 1 and isinstance(items[0], int) and not isinstance(items[0], bool):
        return [UNDEFINED] * items[0]
    return list(items)


ARRAY = NativeClass(
    "Array",
    _new_array,
    {
        "from": NativeFunction("from", lambda items: list(listed(items) or [])),
        "isArray": NativeFunction("isArray", lambda value: isinstance(value, list)),
        "of": NativeFunction("of", lambda *items: list(items)),
    },
    call=_new_array,
)
MAP = NativeClass(
    "Map",
    lambda entries=UNDEFINED: JsMap(
        {} if entries in (UNDEFINED, None) else {pair[0]: pair[1] for pair in _pairs(entries)}
    ),
)
SET = NativeClass(
    "Set",
    lambda items=UNDEFINED: JsSet(
        dict.fromkeys([] if items in (UNDEFINED, None) else listed(items) or [])
    ),
)


def _epoch_ms(*parts: Any) -> float:
    match parts:
        case ():
            return float(clock.now_ms())
        case (JsDate() as date,):
            return date.epoch_ms
        case (str() as text,):
            return _parsed_date(text)
        case (value,):
            return js_number(value)
    year, month, *rest = (int(js_number(part)) for part in parts)
    day, hour, minute, second, ms = [*rest, *[1, 0, 0, 0, 0][len(rest) :]]
    moment = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp()
    return (moment + (day - 1) * 86_400 + hour * 3_600 + minute * 60 + second) * 1000 + ms


def _parsed_date(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


DATE = NativeClass(
    "Date",
    lambda *parts: JsDate(_epoch_ms(*parts)),
    functions(now=clock.now_ms, parse=lambda text: _parsed_date(js_string(text)), UTC=_epoch_ms),
    call=lambda: JsDate(float(clock.now_ms())).text(),
)


def error_class(name: str) -> NativeClass:
    """The class of errors called `name`."""

    def construct(message: Any = "") -> JsErrorValue:
        return JsErrorValue(name, js_string(message))

    return NativeClass(name, construct, call=construct)


async def _all(promises: Any) -> list[Any]:
    return list(await asyncio.gather(*[settled(item) for item in listed(promises) or []]))


async def _race(promises: Any) -> Any:
    running = [asyncio.ensure_future(settled(item)) for item in listed(promises) or []]
    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    return done.pop().result()


async def _all_settled(promises: Any) -> list[dict[str, Any]]:
    running = [settled(item) for item in listed(promises) or []]
    ends = await asyncio.gather(*running, return_exceptions=True)
    return [
        {"status": "rejected", "reason": JsErrorValue(end.name or "Error", end.message)}
        if isinstance(end, JsException)
        else {"status": "fulfilled", "value": end}
        for end in ends
    ]


async def _any(promises: Any) -> Any:
    for running in asyncio.as_completed([settled(item) for item in listed(promises) or []]):
        try:
            return await running
        except JsException:
            continue
    raise JsException("All promises were rejected", name="AggregateError")


def _with_resolvers() -> dict[str, Any]:
    made: dict[str, Any] = {}

    def keep(resolve: Any, reject: Any) -> None:
        made.update(resolve=resolve, reject=reject)

    promise = _new_promise(NativeFunction("executor", keep))
    return {"promise": promise, **made}


def _new_promise(executor: Any) -> JsPromise:
    from localedge.jsmembers import invoke

    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def resolve(value: Any = UNDEFINED) -> None:
        if not future.done():
            future.set_result(value)

    def reject(reason: Any = UNDEFINED) -> None:
        if not future.done():
            future.set_exception(as_error(reason))

    invoke(executor, NativeFunction("resolve", resolve), NativeFunction("reject", reject))
    return JsPromise(future)


async def _rejected(reason: Any = UNDEFINED) -> NoReturn:
    raise as_error(reason)


async def _resolved(value: Any = UNDEFINED) -> Any:
    return await settled(value)


PROMISE = NativeClass(
    "Promise",
    _new_promise,
    functions(
        all=_all,
        allSettled=_all_settled,
        any=_any,
        race=_race,
        reject=_rejected,
        resolve=_resolved,
        withResolvers=_with_resolvers,
    ),
)
STRING = NativeClass(
    "String",
    js_string,
    functions(fromCharCode=lambda *codes: "".join(chr(int(js_number(c)) & 0xFFFF) for c in codes)),
    call=js_string,
)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | float) and float(value).is_integer()


NUMBER = NativeClass(
    "Number",
    js_number,
    {
        **functions(
            isInteger=_is_integer,
            isSafeInteger=lambda value: _is_integer(value) and abs(value) <= MAX_SAFE_INTEGER,
        ),
        **{name: FUNCTIONS[name] for name in ("parseFloat", "parseInt")},
        "MAX_SAFE_INTEGER": MAX_SAFE_INTEGER,
        "MIN_SAFE_INTEGER": -MAX_SAFE_INTEGER,
    },
    call=js_number,
)
BOOLEAN = NativeClass("Boolean", js_truthy, call=js_truthy)
