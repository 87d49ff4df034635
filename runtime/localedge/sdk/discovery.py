"""Finds what a worker's main module offers, as the platform's introspection does."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

CLASS_HANDLERS: Final = ("fetch", "scheduled", "queue", "email", "tail", "trace", "test")
LEGACY_HANDLERS: Final = ("fetch", "scheduled", "queue", "alarm", "trace", "pubsub")
EVERY: Final = 3
"""Events come with three arguments: the event, env, ctx."""


@dataclass(frozen=True, slots=True)
class Handler:
    """How one handler is called.

    Shape: `takes` is how many of the event's three arguments a relaxed call passes on.
    """

    name: str
    takes: int


@dataclass(frozen=True, slots=True)
class Entrypoints:
    """What one main module defines.

    Shape: `classes` maps names to WorkerEntrypoint subclasses, `default` is the one named
    `Default`; `unsupported` names classes of kinds that exist on the platform and not here;
    `legacy` maps handler names to the module's own `on_…` functions, `muted` names those that it
    has and that are not allowed.
    """

    classes: dict[str, type[Any]]
    default: type[Any] | None
    unsupported: dict[str, str]
    legacy: dict[str, Callable[..., Any]]
    muted: tuple[str, ...] = ()


def discover(module: ModuleType, *, allows_global_handlers: bool = True) -> Entrypoints:
    """The entrypoints of `module`: classes by their public names, and legacy handlers if allowed.

    Errors: TypeError when there are two defaults.
    Source: workerd src/pyodide/internal/introspection.py, read 2026-12-01.
    """
    import workers

    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    classes: dict[str, type[Any]] = {}
    unsupported: dict[str, str] = {}
    for name in names:
        value = getattr(module, name)
        if not inspect.isclass(value):
            continue
        if _is_proper(value, workers.WorkerEntrypoint):
            classes[name] = value
        for kind in (workers.DurableObject, workers.WorkflowEntrypoint):
            if _is_proper(value, kind):
                unsupported[name] = kind.__name__
    own = {
        name: function
        for name in LEGACY_HANDLERS
        if callable(function := getattr(module, f"on_{name}", None))
    }
    default = classes.get("Default")
    if not allows_global_handlers:
        return Entrypoints(classes, default, unsupported, {}, tuple(own))
    if default is not None and own:
        raise TypeError("Cannot define multiple default entrypoints")
    return Entrypoints(classes, default, unsupported, own)


def _is_proper(value: type[Any], kind: type[Any]) -> bool:
    return issubclass(value, kind) and value is not kind


def public_methods(entrypoint: type[Any]) -> frozenset[str]:
    """Names of the methods that the platform offers: public plain functions, inherited ones too.

    Static and class methods are not among them.
    """
    found: set[str] = set()
    for cls in entrypoint.__mro__:
        if cls.__module__ == "workers.entrypoints" or cls is object:
            continue
        for name, value in vars(cls).items():
            if not name.startswith("_") and inspect.isfunction(value):
                found.add(name)
    return frozenset(found)


def handler(name: str, function: Callable[..., Any], *, bound: bool) -> Handler:
    """How `function` takes an event when surplus positional arguments are dropped.

    Shape: `bound` leaves its first parameter (`self`) out of the count.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return Handler(name, EVERY)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return Handler(name, EVERY)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return Handler(name, min(EVERY, len(positional) - (1 if bound else 0)))


def unset_parameters(function: Any) -> list[str]:
    """The parameters of a class handler that its body reads although they are always None."""
    inner = inspect.unwrap(function)
    if not inspect.isfunction(inner):
        return []
    code = inner.__code__
    after_event = code.co_varnames[2 : code.co_argcount]
    read: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            read.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    return [name for name in after_event if name in read]
