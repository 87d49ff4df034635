"""Which file is a project's configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

OWN_NAME = "wrangler_like.toml"
WRANGLER_NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")


@dataclass(frozen=True, slots=True)
class Found:
    """The file that was found, and the others in its folder that it hides."""

    file: Path
    hidden: tuple[Path, ...] = ()


# Differs: wrangler then follows .wrangler/deploy/config.json to a configuration that a build tool
# has made; here the project's own file counts.
def find(start: Path) -> Found | None:
    """Return the configuration of the project that `start` lies in, or None.

    wrangler looks for one name after the other, each from `start` upward: a wrangler.json far
    above is found before a wrangler.toml in `start`. Our own file wins when it lies in the same
    folder as what wrangler would take, or deeper.

    Source: workers-sdk packages/workers-utils/src/config/config-helpers.ts, read 2026-12-01.
    """
    theirs = next((file for name in WRANGLER_NAMES if (file := _upward(start, name))), None)
    own = _upward(start, OWN_NAME)
    file = own if own and (theirs is None or _is_at_least_as_deep(own, theirs)) else theirs
    if file is None:
        return None
    beside = (file.with_name(name) for name in (OWN_NAME, *WRANGLER_NAMES) if name != file.name)
    return Found(file, tuple(other for other in beside if other.is_file()))


def _upward(start: Path, name: str) -> Path | None:
    return next(
        (folder / name for folder in (start, *start.parents) if (folder / name).is_file()), None
    )


def _is_at_least_as_deep(file: Path, other: Path) -> bool:
    return len(file.parents) >= len(other.parents)
