"""`pyodide.code`: the parts that worker code uses."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NoReturn

from localedge.errors import JsException


def run_js(code: str, /) -> NoReturn:
    """Refuses: the platform blocks code made of text too.

    Errors: JsException, named EvalError.
    """
    raise JsException("Code generation from strings disallowed for this context", name="EvalError")


def should_quiet(source: str, /) -> bool:
    """Whether `source` ends in a semicolon, which asks for no value."""
    return source.rstrip().endswith(";")


def find_imports(source: str, /) -> list[str]:
    """The modules that `source` imports and the packages around them; none when it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(one for alias in node.names for one in _with_parents(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(_with_parents(node.module))
    return sorted(found)


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: at + 1]) for at in range(len(parts)))


def eval_code(
    source: str,
    globals: dict[str, Any] | None = None,
    locals: dict[str, Any] | None = None,
    *,
    filename: str = "<exec>",
) -> Any:
    """The value of the last expression of `source`, once all of it has run; else None.

    Source: pyodide.org/en/stable/usage/api/python-api/code.html, read 2026-12-01.
    """
    scope = {} if globals is None else globals
    value = None
    for code in _parts(source, filename, 0):
        value = eval(code, scope, locals)
    return value


async def eval_code_async(
    source: str,
    globals: dict[str, Any] | None = None,
    locals: dict[str, Any] | None = None,
    *,
    filename: str = "<exec>",
) -> Any:
    """The same for a `source` that may `await` at its top."""
    scope = {} if globals is None else globals
    value = None
    for code in _parts(source, filename, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
        value = eval(code, scope, locals)
        if code.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def _parts(source: str, filename: str, flags: int) -> Iterator[CodeType]:
    """What is to be run one after the other; the value of the last is that of `source`."""
    tree = compile(inspect.cleandoc(source), filename, "exec", flags | ast.PyCF_ONLY_AST)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or should_quiet(source):
        yield compile(tree, filename, "exec", flags)
        return
    tree.body.pop()
    yield compile(tree, filename, "exec", flags)
    yield compile(ast.Expression(last.value), filename, "eval", flags)


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
