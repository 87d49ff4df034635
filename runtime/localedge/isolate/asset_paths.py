"""Which static file answers a path, and at which path a file is to be asked for.

Source: developers.cloudflare.com/workers/static-assets/routing (html handling, not found
handling), and for their order workers-sdk packages/workers-shared/asset-worker/src/handler.ts,
read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias
from urllib.parse import quote, unquote_to_bytes

from localedge.project.attached import HtmlHandling, NotFoundHandling

_UNRESERVED: Final = "!'()*"
"""What `encodeURIComponent` leaves as it is, besides what `quote` does."""


class Exists(Protocol):
    """Finds the file that lies at a path of the site."""

    def __call__(self, path: str) -> Path | None: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A file answers, with this status."""

    file: Path
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """The file has another path, which is asked for instead."""

    path: str


Intent: TypeAlias = Found | Moved | None


def decoded(path: str) -> str:
    """The path of a URL as a path of the site: each part decoded, repeated slashes as one."""
    parts = "/".join(_decoded_part(part) for part in path.split("/"))
    while "//" in parts:
        parts = parts.replace("//", "/")
    return parts


def encoded(path: str) -> str:
    """A path of the site as one of a URL, in the only form that a file is served at."""
    return "/".join(quote(part, safe=_UNRESERVED) for part in path.split("/"))


def _decoded_part(part: str) -> str:
    try:
        return unquote_to_bytes(part).decode("utf-8")
    except UnicodeDecodeError:
        return part


@dataclass(frozen=True, slots=True)
class Site:
    """How paths and files of one site belong together."""

    exists: Exists
    html: HtmlHandling
    not_found: NotFoundHandling

    def intent(self, path: str) -> Intent:
        """What answers `path`, decoded: a file, another path, or nothing."""
        return self._file_or_move(path) or self._when_not_found(path)

    def _file_or_move(self, path: str) -> Intent:
        if self.html == "none":
            return self._served(path)
        for file, place in self._moves(path):
            # Not where something else lies, nor where another file would answer.
            if self.exists(file) and not self.exists(place) and self._at(place) == file:
                return Moved(place)
        name = self._at(path)
        return None if name is None else self._served(name)

    def _served(self, name: str) -> Found | None:
        file = self.exists(name)
        return Found(file) if file is not None else None

    def _at(self, path: str) -> str | None:
        """The name of the file that is served at `path` itself."""
        return next((name for name in self._names(path) if self.exists(name)), None)

    def _names(self, path: str) -> Iterator[str]:
        """The files that may be served at `path`, the first that is there wins."""
        if path.endswith("/"):
            if self.html != "drop-trailing-slash" or path == "/":
                yield f"{path}index.html"
            if self.html == "force-trailing-slash" and path != "/":
                yield f"{path[:-1]}.html"
            return
        yield path
        if self.html != "force-trailing-slash":
            yield f"{path}.html"
        if self.html == "drop-trailing-slash":
            yield f"{path}/index.html"

    def _moves(self, path: str) -> Iterator[tuple[str, str]]:
        """Files that `path` may mean, each with the path where it is served."""
        is_file = self.exists(path) is not None
        if path.endswith(("/index", "/index.html")):
            if path.endswith("/index") and is_file:
                return
            folder = path[: path.rindex("/")]
            yield f"{folder}/index.html", self._place(folder, is_index=True)
            if folder and not (is_file and self.html == "drop-trailing-slash"):
                yield f"{folder}.html", self._place(folder, is_index=False)
        elif path.endswith(".html") or self._at(path) is None:
            stem = path[:-1] if path.endswith("/") else path.removesuffix(".html")
            if not stem:
                return
            yield f"{stem}.html", self._place(stem, is_index=False)
            if not (is_file and self.html == "force-trailing-slash"):
                yield f"{stem}/index.html", self._place(stem, is_index=True)

    def _place(self, stem: str, *, is_index: bool) -> str:
        """Where `stem/index.html`, or `stem.html`, is served."""
        if self.html == "force-trailing-slash" or not stem:
            return f"{stem}/"
        if self.html == "auto-trailing-slash" and is_index:
            return f"{stem}/"
        return stem

    def _when_not_found(self, path: str) -> Found | None:
        if self.not_found == "single-page-application":
            return self._served("/index.html")
        if self.not_found == "404-page":
            while path:
                path = path[: path.rindex("/")] if "/" in path else ""
                page = self.exists(f"{path}/404.html")
                if page is not None:
                    return Found(page, 404)
        return None
