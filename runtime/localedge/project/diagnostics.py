"""What is wrong with a configuration, and where: collected first, reported together."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from localedge.project.document import Document, Keys


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a configuration, as wrangler names it and as the file has it.

    Shape: `name` is the key ("kv_namespaces"), `path` how messages call the part
    ("env.staging.kv_namespaces[0]"), `keys` the way to it from the top of the file.
    """

    name: str
    path: str
    keys: Keys

    def item(self, index: int) -> Field:
        """The item `index` of this array."""
        return Field(self.name, f"{self.path}[{index}]", (*self.keys, index))

    def member(self, name: str) -> Field:
        """The property `name` of this object."""
        return Field(f"{self.name}.{name}", f"{self.path}.{name}", (*self.keys, name))


@dataclass(slots=True)
class Diagnostics:
    """Errors and warnings so far; `title` stands before each of them, if there is one."""

    document: Document
    shown: str
    title: str = ""
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def error(self, text: str, at: Field | None = None) -> bool:
        """Remember an error at a part of the file; False, so that a check can return it."""
        self.errors.append(self._placed(text, at))
        return False

    def warn(self, text: str, at: Field | None = None) -> None:
        """Remember a warning at a part of the file."""
        self.warnings.append(self._placed(text, at))

    def take(self, other: Diagnostics) -> None:
        """Remember also what `other` has."""
        self.errors.extend(other.errors)
        self.warnings.extend(other.warnings)

    def unknown_keys(self, part: Field, present: list[str], known: list[str] | set[str]) -> bool:
        """Warn of each key of `part` that is none of `known`; True when there is no such key."""
        unknown = [name for name in present if name not in known]
        if not unknown:
            return True
        names = ",".join(f'"{name}"' for name in unknown)
        lines = [f"Unexpected fields found in {part.path} field: {names}"]
        lines += [f"  {self._unknown_key(part, name, known)}" for name in unknown]
        self.warn("\n".join(lines), part)
        return False

    def _unknown_key(self, part: Field, name: str, known: list[str] | set[str]) -> str:
        line = self.document.line((*part.keys, name))
        place = f" ({self.shown}:{line})" if line else ""
        return f"{unknown_key(part.keys, name, sorted(known))}{place}"

    def _placed(self, text: str, at: Field | None) -> str:
        line = self.document.line(at.keys) if at else None
        place = f"{self.shown}:{line}: " if line else f"{self.shown}: "
        return f"{place}{self.title}{text}"


def unknown_key(keys: Keys, name: str, known: list[str]) -> str:
    """The sentence that says that `name` is no key there, and which is nearest to it."""
    where = ".".join(str(key) for key in keys) or "top level"
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    advice = f'  Did you mean "{near[0]}"?' if near else ""
    return f'config/unknown-key: [{where}] has no key "{name}".{advice}'
