"""The scenarios of a file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from localedge.errors import Exit, OperatorError
from localedge.explore.scenario import Scenario


def scenarios_of(file: Path, name: str | None = None) -> list[Scenario]:
    """The scenarios that are variables of the module `file`, or the one called `name`.

    Errors: OperatorError when the file is missing, cannot be imported or has no such scenario.
    """
    if not file.is_file():
        raise OperatorError(
            "explore/no-file", f"there is no file {file}.", "Give the path.", exit=Exit.USAGE
        )
    module_name = f"explored_{file.stem}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise OperatorError(
            "explore/not-python",
            f"{file} is not a Python file.",
            "Give one that ends with .py.",
            exit=Exit.USAGE,
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    # As for a script, and as for pytest's `pythonpath = ["."]`.
    path = [*sys.path]
    sys.path[:0] = [str(file.resolve().parent), str(Path.cwd())]
    try:
        spec.loader.exec_module(module)
    except Exception as exc:
        raise OperatorError(
            "explore/bad-scenario",
            f"{file.name} cannot be imported: {type(exc).__name__}: {exc}",
            "This is a mistake in the scenario's file, not in the worker.",
            exit=Exit.USAGE,
        ) from exc
    finally:
        sys.path[:] = path
    found = [value for value in vars(module).values() if isinstance(value, Scenario)]
    chosen = [one for one in found if name is None or one.title == name]
    if not chosen:
        known = ", ".join(one.title for one in found) or "none"
        raise OperatorError(
            "explore/no-scenario",
            f"{file.name} has no scenario{f' called {name!r}' if name else ''}; it has: {known}.",
            "Make one: scenario = Scenario(client, must=[…]).",
            exit=Exit.USAGE,
        )
    return chosen
