"""What to say of an import that fails: the nearest thing that works here and on the platform."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from localedge.sdk.finder import MISSING, MODULES, OFFERED
from localedge.sdk.host import edge_python

_ELSEWHERE: Final = {
    **MISSING,
    "cloudflare": 'Bindings are in self.env; the module "workers" has the rest.',
    "pyodide.console": "Use pyodide.code.eval_code.",
}
_FROM: Final = re.compile(r"cannot import name '([^']+)' from '([^']+)'")


@contextmanager
def hinting(bundle: Path) -> Iterator[None]:
    """An ImportError that leaves this block carries a note that says what would work.

    A SyntaxError says whether it may be one on this machine only.
    """
    try:
        yield
    except ImportError as error:
        advice = hint(error, bundle)
        if advice:
            error.add_note(advice)
        raise
    except SyntaxError as error:
        here, there = sys.version_info[:2], edge_python()
        if here < there:
            error.add_note(
                f"Python {here[0]}.{here[1]} runs localedge; the edge has {there[0]}.{there[1]}, "
                "which may know more: run localedge with that."
            )
        raise


def hint(error: ImportError, bundle: Path) -> str:
    """What to do about `error`, which an import in `bundle` raised; "" when nothing is known."""
    found = _FROM.match(str(error))
    if found is not None:
        return _of_name(found[1], found[2])
    if "relative import" in str(error):
        return f"Imports begin in the folder {bundle.name}, which is no package: leave the dot out."
    name = error.name or ""
    top = name.partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not name or name in MISSING:
        return ""
    if top == bundle.name and not (bundle / top).exists():
        return _of_root(name, bundle)
    advice = nearest(name)
    if advice:
        return f"localedge has no {name}. {advice}"
    if top in sys.stdlib_module_names:
        return ""
    return (
        f"No package in the environment that runs localedge has the module {top}; install it. "
        "localedge check says whether the edge has it."
    )


def nearest(module: str) -> str:
    """What comes nearest to `module`, which is not there; "" for a module that is nobody's."""
    top, _, rest = module.partition(".")
    known = _ELSEWHERE.get(module) or (_ELSEWHERE.get(top) if top not in OFFERED else None)
    if known:
        return known
    if top not in OFFERED or not rest:
        return ""
    names = submodules(top)
    near = get_close_matches(rest.partition(".")[0], names, n=1) or names[:1]
    return f"The nearest is {top}.{near[0]}." if near else f"{top} has no submodules."


def exists(module: str) -> bool:
    """Whether `module`, of an offered package, is one of ours."""
    path = MODULES.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def submodules(top: str) -> list[str]:
    """The public submodules of the offered package `top`."""
    folder = MODULES / top
    if not folder.is_dir():
        return []
    names = (entry.stem for entry in folder.iterdir() if entry.suffix in ("", ".py"))
    return sorted(name for name in names if not name.startswith("_"))


def _of_name(name: str, module: str) -> str:
    top = module.partition(".")[0]
    if top not in OFFERED or module not in sys.modules:
        return ""
    offered = getattr(sys.modules[module], "__all__", None) or dir(sys.modules[module])
    near = get_close_matches(name, [one for one in offered if not one.startswith("_")], n=1)
    advice = f"The nearest is {near[0]}." if near else "It is not part of the SDK."
    return f"localedge has no {module}.{name}. {advice}"


def _of_root(name: str, bundle: Path) -> str:
    rest = name.partition(".")[2]
    instead = f'"from {rest} import …"' if rest else "the name of a file in it"
    return f"Imports begin in the folder {bundle.name}, here and on the edge: write {instead}."
