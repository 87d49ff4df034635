"""`pyodide.code`: the parts that worker code uses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from localedge.errors import JsException


def run_js(code: str, /) -> NoReturn:
    """Refuses: the platform blocks code made of text too.

    Errors: JsException, named EvalError.
    """
    raise JsException("Code generation from strings disallowed for this context", name="EvalError")


def relaxed_call(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `func` gives when arguments that it does not take are left out.

    Source: pyodide.org/en/stable/usage/api/python-api/code.html, read 2026-12-01.
    """
    parameters = list(inspect.signature(func).parameters.values())
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        args = args[: sum(p.kind in kinds for p in parameters)]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        names = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
        kwargs = {name: value for name, value in kwargs.items() if name in names}
    return func(*args, **kwargs)


def relaxed_wrap(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, called relaxed."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return relaxed_call(func, *args, **kwargs)

    return wrapper
