"""How the views' part of the API is asked and answers: models in, models out, errors named."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from edgestate.errors import StateError
from localedge.errors import OperatorError
from localedge.inspector.agents_data import without_tables
from localedge.inspector.html import Child, tag
from localedge.inspector.inspection import answer
from localedge.inspector.stores import Stores

M = TypeVar("M", bound=BaseModel)

MOST_BODY_BYTES: Final = 60_000_000
"""A value of KV has 25 MiB; as hexadecimal that is twice as much."""
_ABSENT: Final = frozenset(
    (
        "kv/no-key",
        "kv/unknown-namespace",
        "d1/unknown-database",
        "d1/no-database",
        "trace/unknown",
        "session_not_found",
        "task_not_found",
        "step_not_found",
        "no_dead_letter",
    )
)

Shown = BaseModel | Mapping[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(stores: Stores, work: Callable[[Request], Awaitable[Shown | Response]]) -> Endpoint:
    """`work` as an endpoint: at the workers' time, what it returns as JSON, its errors too."""

    async def answered(request: Request) -> Response:
        stores.inspection.history.look()
        try:
            with stores.their_time():
                found = await work(request)
        except StateError as error:
            if missing := without_tables(error):
                raise missing from error
            status = 404 if error.code in _ABSENT else 409
            return answer({"error": {"code": error.code, "message": str(error)}}, status)
        except OperatorError as error:
            if error.code not in _ABSENT:
                raise
            told = {"code": error.code, "message": error.message, "hint": error.hint}
            return answer({"error": told}, 404)
        if isinstance(found, Response):
            return found
        return answer(plain(found))

    return answered


def plain(found: Shown) -> dict[str, Any]:
    """`found` as JSON."""
    if isinstance(found, BaseModel):
        return found.model_dump(mode="json")
    return {
        name: [one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in value]
        if isinstance(value, list | tuple)
        else value.model_dump(mode="json")
        if isinstance(value, BaseModel)
        else value
        for name, value in found.items()
    }


def parameter(request: Request, name: str) -> str:
    """A parameter that has to be there. Errors: HTTPException 400."""
    found = request.query_params.get(name)
    if found is None:
        raise HTTPException(400, f'the parameter "{name}" is missing')
    return found


def whole(request: Request, name: str, default: int) -> int:
    """A parameter that is a whole number. Errors: HTTPException 400."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isdecimal() or len(text) > 12:
        raise HTTPException(400, f'"{name}" is not a whole number')
    return int(text)


def options(names: Mapping[str, str]) -> list[Child]:
    """The options of a `select`, by value."""
    return [tag("option", name, value=value) for value, name in names.items()]


async def body_of(request: Request, model: type[M]) -> M:
    """The request's body as a `model`. Errors: HTTPException 400 that says what is wrong."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > MOST_BODY_BYTES:
        raise HTTPException(413, "that is too much")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as exc:
        reasons = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'the body'}: {e['msg']}" for e in exc.errors()
        )
        raise HTTPException(400, reasons) from exc
