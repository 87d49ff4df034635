"""What a project's pyproject.toml says that its worker needs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from localedge.port.check import silence
from localedge.port.check.silence import Silences

PYPROJECT: Final = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The packages of one project.

    Shape: `file` is pyproject.toml, None when there is none; `requirements` maps the normalised
    name of each of `[project].dependencies` to it; `groups` has the names in all dependency
    groups; `requires_python` is what the file demands; `problem` says why it cannot be read.
    """

    file: Path | None = None
    requirements: tuple[tuple[str, Requirement], ...] = ()
    groups: frozenset[str] = frozenset()
    requires_python: SpecifierSet | None = None
    text: str = ""
    problem: str | None = None

    @classmethod
    def read(cls, root: Path) -> Dependencies:
        """The packages of the project in the folder `root`; none when it has no such file."""
        file = root / PYPROJECT
        if not file.is_file():
            return cls()
        text = file.read_text("utf-8-sig", errors="replace")
        try:
            return cls._of(file, text, tomllib.loads(text))
        except (tomllib.TOMLDecodeError, InvalidRequirement, InvalidSpecifier) as error:
            return cls(file=file, text=text, problem=str(error).partition("\n")[0])

    @classmethod
    def _of(cls, file: Path, text: str, document: dict[str, Any]) -> Dependencies:
        project = document.get("project", {})
        required = [Requirement(one) for one in project.get("dependencies", [])]
        demanded = project.get("requires-python")
        return cls(
            file=file,
            requirements=tuple((canonicalize_name(one.name), one) for one in required),
            groups=frozenset(_group_names(document.get("dependency-groups", {}))),
            requires_python=SpecifierSet(demanded) if demanded else None,
            text=text,
        )

    def find(self, name: str) -> Requirement | None:
        """The requirement of the package `name`, if there is one."""
        wanted = canonicalize_name(name)
        return next((one for found, one in self.requirements if found == wanted), None)

    def has(self, name: str) -> bool:
        """Whether the package is a dependency, or in a dependency group."""
        return self.find(name) is not None or canonicalize_name(name) in self.groups

    def line_of(self, word: str) -> int:
        """The line on which `word` first stands as a name of its own; 1 when it does not."""
        pattern = re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", re.IGNORECASE)
        text = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), self.text)
        found = pattern.search(text)
        return self.text.count("\n", 0, found.start()) + 1 if found else 1

    def silences(self) -> Silences:
        """What comments of the file silence."""
        return silence.of_text(self.text)


def _group_names(groups: dict[str, Any]) -> Iterator[str]:
    for entries in groups.values():
        for entry in entries:
            if isinstance(entry, str):
                yield canonicalize_name(Requirement(entry).name)
