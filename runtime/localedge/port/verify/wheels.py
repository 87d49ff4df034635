"""Packages for the edge's Python, fetched by pip into the cache."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.fetching import filled, run

PLATFORM: Final = "pyemscripten_2026_0_wasm32"
PYTHON: Final = "3.14"
"""Of Pyodide 314. Source: PEP 783, and pydantic-core's wheels on PyPI, read 2026-12-01."""
_NO_NETWORK: Final = ("Retrying (", "Could not fetch URL", "NewConnectionError", "ConnectTimeout")
_NO_BUILD: Final = re.compile(r"No matching distribution found for ([^\n]+)")


def silent(_text: str) -> None:
    """Say nothing."""


async def packages_folder(
    requirements: Sequence[str], cache: Path, say: Callable[[str], None] = silent
) -> Path:
    """A folder with the packages that `requirements` ask for, and those that these need.

    Shape: what was once fetched for the same requirements stays as it is; `say` gets a sentence
    before something is fetched.
    Errors: OperatorError: exit 4 without pip or network, 1 for a package without an edge build.
    """
    wanted = sorted(set(requirements))
    digest = hashlib.sha256("\n".join([PLATFORM, PYTHON, *wanted]).encode()).hexdigest()[:16]

    async def fill(folder: Path) -> None:
        say(f"Fetching packages for the edge, once: {', '.join(wanted)}.")
        await _fetch(wanted, folder)

    return await filled(cache / f"python-{digest}", fill)


async def _fetch(requirements: Sequence[str], folder: Path) -> None:
    if find_spec("pip") is None:
        raise OperatorError(
            "verify/no-pip",
            "packages for the edge are fetched by pip, which is not installed in this environment.",
            "Install what verify needs: python -m ensurepip, or uv pip install pip",
            exit=Exit.UNREACHABLE,
        )
    tags = ("--platform", PLATFORM, "--implementation", "cp", "--python-version", PYTHON)
    code, said = await run(
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
            *("--target", str(folder), "--only-binary", ":all:", "--no-compile", "--retries", "1"),
            *(*tags, "--abi", "cp314", "--abi", "abi3", "--abi", "none", "--", *requirements),
        ],
        folder,
    )
    if code != 0:
        raise _failure(said)


def _failure(said: str) -> OperatorError:
    missing = _NO_BUILD.search(said)
    if missing is None or any(sign in said for sign in _NO_NETWORK):
        return OperatorError(
            "verify/cannot-fetch",
            f"pip could not fetch packages for the edge:\n{said}",
            "The first verify needs the network; afterwards all lies in the cache.",
            exit=Exit.UNREACHABLE,
        )
    return OperatorError(
        "verify/no-edge-build",
        f"{missing[1]} has no wheel for the edge: neither for Pyodide ({PLATFORM}, "
        f"Python {PYTHON}) nor in pure Python.",
        "Take another package, or vendor a build of your own in python_modules/.",
    )
