"""Where the folders of a project lie in its export."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Layout:
    """The folders of the project at `root` that are exported, and their places.

    Shape: a folder below `root` keeps its place; `root` itself, or one outside of it, gets a name
    that no other has.
    """

    root: Path
    _places: dict[Path, str] = field(default_factory=dict)

    def place(self, folder: Path, otherwise: str) -> str:
        """The path of `folder` in the export, with `/`; the same each time it is asked for."""
        folder = Path(os.path.abspath(folder))
        if folder not in self._places:
            is_below = folder.is_relative_to(self.root) and folder != self.root
            wanted = folder.relative_to(self.root).as_posix() if is_below else otherwise
            self._places[folder] = self._free(wanted)
        return self._places[folder]

    def is_placed(self, folder: Path) -> bool:
        """Whether `folder` has a place of its own."""
        return folder in self._places

    def _free(self, wanted: str) -> str:
        taken = set(self._places.values())
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)
