"""Static files: `env.ASSETS`, and what is answered before the worker runs.

Source: developers.cloudflare.com/workers/static-assets, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import mimetypes
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from localedge.isolate.asset_paths import Found, Moved, Site, decoded, encoded
from localedge.project.attached import Assets
from localedge.sdk import web
from localedge.sdk.fetcher import Fetcher
from localedge.stream import ReadableStream

PIECE_BYTES: Final = 64 * 1024
_CACHE: Final = "public, max-age=0, must-revalidate"
# Differs: `_headers`, `_redirects` and `.assetsignore` are not read; they are not served either.
_HIDDEN: Final = re.compile(
    r"/(_headers|_redirects|\.assetsignore)$"
    r"|/(\.dev\.vars|\.env)[^/]*$"
    r"|/(\.git|\.wrangler|\.localedge|\.venv|\.venv-workers)(/|$)"
)
_TYPES: Final = mimetypes.MimeTypes(filenames=())
_MORE_TYPES: Final = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
    ".md": "text/markdown",
    ".ico": "image/vnd.microsoft.icon",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers: `file` is the body, None when there is none."""

    status: int
    headers: list[tuple[str, str]]
    file: Path | None = None
    size_bytes: int = 0


class StaticSite:
    """The files of one project."""

    def __init__(self, settings: Assets) -> None:
        self._settings = settings
        self._root = settings.directory.resolve()

    def is_first(self, path: str, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a request is answered by files (True) or by the worker.

        Source: workers-sdk packages/workers-shared/router-worker/src/worker.ts, read 2026-12-01.
        """
        rules = self._settings.run_worker_first
        if isinstance(rules, tuple):
            if any(rule[0] == "!" and _matches(rule[1:], path) for rule in rules):
                return True
            if any(rule[0] == "/" and _matches(rule, path) for rule in rules):
                return False
        elif rules:
            return False
        is_navigation = headers.get("sec-fetch-mode") == "navigate"
        with_fallback = is_navigation and self._settings.prefers_navigation
        return self._site(with_fallback=with_fallback).intent(decoded(path)) is not None

    def answer(self, path: str, search: str, method: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a request; a 404 without a body when nothing is there.

        Shape: `path` and `search` (with its "?") are the URL's, names of `headers` lower case.
        """
        place = decoded(path)
        intent = self._site(with_fallback=True).intent(place)
        if intent is None:
            return Answer(404, [])
        if method not in ("GET", "HEAD"):
            return Answer(405, [])
        canonical = encoded(intent.path if isinstance(intent, Moved) else place)
        if isinstance(intent, Moved) or canonical != path:
            return Answer(307, [("location", canonical + search)])
        return self._file(intent, method, headers)

    def _site(self, *, with_fallback: bool) -> Site:
        not_found = self._settings.not_found_handling if with_fallback else "none"
        return Site(self._find, self._settings.html_handling, not_found)

    def _find(self, path: str) -> Path | None:
        """The file at `path` of the site; None for what is none, is hidden or lies outside."""
        parts = path.split("/")[1:]
        if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
            return None
        if _HIDDEN.search(path):
            return None
        try:
            file = self._root.joinpath(*parts).resolve()
            return file if file.is_relative_to(self._root) and file.is_file() else None
        except OSError:
            # A name that is too long for the file system is one that no file has.
            return None

    def _file(self, found: Found, method: str, headers: Mapping[str, str]) -> Answer:
        facts = found.file.stat()
        mark = f"{found.file} {facts.st_size} {facts.st_mtime_ns}"
        etag = f'"{sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:32]}"'
        lines = [("etag", etag)]
        kind = _type_of(found.file.name)
        if kind is not None:
            lines.append(("content-type", kind))
        if "authorization" not in headers and "range" not in headers:
            lines.append(("cache-control", _CACHE))
        if headers.get("if-none-match") in (etag, f"W/{etag}"):
            return Answer(304, lines)
        body = found.file if method == "GET" else None
        return Answer(found.status, lines, body, facts.st_size)


def _type_of(name: str) -> str | None:
    suffix = Path(name).suffix.lower()
    kind = _MORE_TYPES.get(suffix) or _TYPES.guess_type(f"file{suffix}")[0]
    is_text = kind is not None and kind.startswith("text/")
    return f"{kind}; charset=utf-8" if is_text else kind


def _matches(rule: str, path: str) -> bool:
    return _pattern(rule).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _pattern(rule: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in rule.split("*")), re.DOTALL)


async def pieces(file: Path) -> AsyncIterator[bytes]:
    """The content of `file`, piece by piece; others get their turn in between."""
    # A local read of one piece costs less than handing it to a thread, which strict forbids.
    with file.open("rb") as content:
        while piece := content.read(PIECE_BYTES):
            yield piece
            await asyncio.sleep(0)


def assets_binding(settings: Assets) -> Fetcher:
    """`env.ASSETS`: it answers every request from the files, whatever its host."""
    site = StaticSite(settings)

    async def send(request: web.Request) -> web.Response:
        _, _, rest = request.url.partition("://")
        place, mark, search = rest.partition("#")[0].partition("?")
        path = f"/{place.partition('/')[2]}"
        headers = dict(request.headers.entries())
        found = site.answer(path, mark + search, request.method, headers)
        body: bytes | ReadableStream | None = None
        if found.file is not None:
            small = found.size_bytes <= PIECE_BYTES
            body = found.file.read_bytes() if small else ReadableStream(pieces(found.file))
        response = web.Response(body, found.status, "", found.headers)
        response.url = request.url
        return response

    return Fetcher(send)
