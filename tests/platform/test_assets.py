"""Static files: which file answers, what the worker gets first, and what is never served."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.platform.projects import template, write
from tests.runtime.edge import edge

from localedge.errors import OperatorError
from localedge.isolate.assets import StaticSite
from localedge.project import load
from localedge.project.attached import Assets, HtmlHandling, NotFoundHandling

FILES: dict[str, str | bytes] = {
    "index.html": "home",
    "file.html": "file",
    "folder/index.html": "folder",
    "both.html": "page",
    "both/index.html": "index",
    "binary": b"\x00",
    "style.css": "a {}",
    "404.html": "lost",
    "folder/404.html": "lost in folder",
    "a b.txt": "space",
    "ü/[x].txt": "odd",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A site's folder."""
    write(tmp_path / "public", FILES)
    return tmp_path / "public"


def asked(
    folder: Path,
    path: str,
    html: HtmlHandling = "auto-trailing-slash",
    not_found: NotFoundHandling = "none",
    method: str = "GET",
    **headers: str,
) -> tuple[int, str]:
    """The status, and the name of the file or the place of a redirect."""
    site = StaticSite(Assets(directory=folder, html_handling=html, not_found_handling=not_found))
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = site.answer(path, "?q=1", method, names)
    if answer.file is not None:
        return answer.status, str(answer.file.relative_to(folder))
    return answer.status, dict(answer.headers).get("location", "")


AUTO = {
    "/": (200, "index.html"),
    "/index": (307, "/?q=1"),
    "/index.html": (307, "/?q=1"),
    "/file": (200, "file.html"),
    "/file.html": (307, "/file?q=1"),
    "/file/": (307, "/file?q=1"),
    "/file/index": (307, "/file?q=1"),
    "/file/index.html": (307, "/file?q=1"),
    "/folder": (307, "/folder/?q=1"),
    "/folder/": (200, "folder/index.html"),
    "/folder.html": (307, "/folder/?q=1"),
    "/folder/index": (307, "/folder/?q=1"),
    "/folder/index.html": (307, "/folder/?q=1"),
    "/both": (200, "both.html"),
    "/both/": (200, "both/index.html"),
    "/both.html": (307, "/both?q=1"),
    "/binary": (200, "binary"),
    "/binary/": (404, ""),
    "/none": (404, ""),
}
FORCE = {
    "/": (200, "index.html"),
    "/index.html": (307, "/?q=1"),
    "/file": (307, "/file/?q=1"),
    "/file/": (200, "file.html"),
    "/file.html": (307, "/file/?q=1"),
    "/folder": (307, "/folder/?q=1"),
    "/folder/": (200, "folder/index.html"),
    "/folder/index.html": (307, "/folder/?q=1"),
    "/both/": (200, "both/index.html"),
    "/both.html": (200, "both.html"),
    "/binary": (200, "binary"),
}
DROP = {
    "/": (200, "index.html"),
    "/index": (307, "/?q=1"),
    "/index.html": (307, "/?q=1"),
    "/file": (200, "file.html"),
    "/file/": (307, "/file?q=1"),
    "/file.html": (307, "/file?q=1"),
    "/folder": (200, "folder/index.html"),
    "/folder/": (307, "/folder?q=1"),
    "/folder/index.html": (307, "/folder?q=1"),
    "/both": (200, "both.html"),
    "/both/index.html": (200, "both/index.html"),
    "/binary": (200, "binary"),
}
NONE = {
    "/": (404, ""),
    "/index.html": (200, "index.html"),
    "/file": (404, ""),
    "/file.html": (200, "file.html"),
    "/folder/": (404, ""),
}
HANDLINGS: list[tuple[HtmlHandling, dict[str, tuple[int, str]]]] = [
    ("auto-trailing-slash", AUTO),
    ("force-trailing-slash", FORCE),
    ("drop-trailing-slash", DROP),
    ("none", NONE),
]


@pytest.mark.parametrize(("html", "expected"), HANDLINGS, ids=[name for name, _ in HANDLINGS])
def test_html_is_served_where_the_setting_says(
    html: HtmlHandling, expected: dict[str, tuple[int, str]], files: Path
) -> None:
    found = {path: asked(files, path, html) for path in expected}

    assert found == expected


@pytest.mark.parametrize(
    ("not_found", "path", "expected"),
    [
        ("404-page", "/none", (404, "404.html")),
        ("404-page", "/folder/none", (404, "folder/404.html")),
        ("404-page", "/none/deeper/none", (404, "404.html")),
        ("single-page-application", "/any/where", (200, "index.html")),
        ("none", "/none", (404, "")),
    ],
)
def test_what_no_file_answers_is_handled_as_the_setting_says(
    not_found: NotFoundHandling, path: str, expected: tuple[int, str], files: Path
) -> None:
    assert asked(files, path, not_found=not_found) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a%20b.txt", (200, "a b.txt")),
        ("/%C3%BC/%5Bx%5D.txt", (200, "ü/[x].txt")),
        ("/%C3%BC/[x].txt", (307, "/%C3%BC/%5Bx%5D.txt?q=1")),
        ("//style.css", (307, "/style.css?q=1")),
    ],
)
def test_a_file_is_served_at_one_spelling_of_its_path(
    path: str, expected: tuple[int, str], files: Path
) -> None:
    assert asked(files, path) == expected


UNSAFE = [
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/folder/%2e%2e%2f%2e%2e%2fsecret.txt",
    "/..%5csecret.txt",
    "/out/secret.txt",
    "/out.txt",
    "/style.css%00",
    "/%2fetc/passwd",
    "/" + "a" * 5000,
    "/%ff%fe",
]


@pytest.mark.parametrize("path", UNSAFE, ids=range(len(UNSAFE)))
def test_nothing_outside_the_folder_is_served(path: str, files: Path) -> None:
    (files.parent / "secret.txt").write_text("secret", "utf-8")
    os.symlink(files.parent, files / "out")
    os.symlink(files.parent / "secret.txt", files / "out.txt")

    assert asked(files, path) == (404, "")


@pytest.mark.parametrize(
    "name",
    ["_headers", "_redirects", ".assetsignore", ".dev.vars", ".dev.vars.staging", ".env.local"],
)
def test_files_of_tools_and_secrets_are_not_served(name: str, files: Path) -> None:
    (files / name).write_text("x", "utf-8")
    write(files, {".git/config": "x", ".localedge/run.json": "x"})

    assert asked(files, f"/{name}")[0] == 404
    assert asked(files, "/.git/config")[0] == 404
    assert asked(files, "/.localedge/run.json")[0] == 404


def test_a_file_has_a_type_a_mark_and_is_asked_for_again(files: Path) -> None:
    site = StaticSite(Assets(directory=files))

    first = dict(site.answer("/style.css", "", "GET", {}).headers)
    again = site.answer("/style.css", "", "GET", {"if-none-match": first["etag"]})
    private = dict(site.answer("/style.css", "", "GET", {"authorization": "x"}).headers)
    unknown = dict(site.answer("/binary", "", "GET", {}).headers)

    assert first["content-type"] == "text/css; charset=utf-8"
    assert first["cache-control"] == "public, max-age=0, must-revalidate"
    assert (again.status, again.file) == (304, None)
    assert "cache-control" not in private
    assert "content-type" not in unknown


def test_a_file_is_read_only(files: Path) -> None:
    assert asked(files, "/style.css", method="POST") == (405, "")
    assert asked(files, "/none", method="POST") == (404, "")
    assert asked(files, "/style.css", method="HEAD") == (200, "")


NAVIGATE = {"sec-fetch-mode": "navigate"}


@pytest.mark.parametrize(
    ("settings", "path", "headers", "is_first"),
    [
        ({}, "/style.css", {}, True),
        ({}, "/api", {}, False),
        ({"run_worker_first": True}, "/style.css", {}, False),
        ({"run_worker_first": ("/api/*",)}, "/api/x", {}, False),
        ({"run_worker_first": ("/*", "!/style.css")}, "/style.css", {}, True),
        ({"run_worker_first": ("/*", "!/static/*")}, "/static/none", {}, True),
        ({"run_worker_first": ("/*", "!/static/*")}, "/other", {}, False),
        ({"run_worker_first": ("/api/*",)}, "/style.css", {}, True),
        ({"not_found_handling": "single-page-application"}, "/any", {}, False),
        ({"not_found_handling": "single-page-application"}, "/any", NAVIGATE, True),
        (
            {"not_found_handling": "404-page", "prefers_navigation": False},
            "/any",
            NAVIGATE,
            False,
        ),
    ],
)
def test_files_come_before_the_worker_unless_the_settings_say_otherwise(
    settings: dict[str, Any], path: str, headers: dict[str, str], is_first: bool, files: Path
) -> None:
    site = StaticSite(Assets(directory=files, **settings))

    assert site.is_first(path, "GET", headers) == is_first


@pytest.mark.parametrize(
    ("assets", "said"),
    [
        ({"directory": "nowhere"}, "does not exist"),
        ({"binding": "ASSETS"}, "missing the required `directory` property"),
        ({"directory": "public", "run_worker_first": ["api"]}, "rules start with / or !/"),
        ({"directory": "public", "run_worker_first": ["!/x"]}, "without a ! is needed"),
        ({"directory": "public", "run_worker_first": ["/x", "/x"]}, "is there twice"),
        ({"directory": "public", "html_handling": "other"}, "html_handling"),
        ({"directory": "public", "not_found_handling": 5}, "not_found_handling"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    assets: dict[str, Any], said: str, files: Path
) -> None:
    template(files.parent, "", assets=assets)

    with pytest.raises(OperatorError) as caught:
        load(start=files.parent, process_env={})

    assert said in caught.value.message


ENTRY = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if "/worker" in request.url:
            return Response(f"worker {request.method}")
        return await self.env.ASSETS.fetch(request)
"""
RAW = ENTRY.replace("ASSETS.fetch(request)", "ASSETS.fetch(request.js_object)")


@pytest.mark.processes
@pytest.mark.anyio
@pytest.mark.parametrize(("code", "date"), [(ENTRY, "2026-11-01"), (RAW, "2026-03-01")])
async def test_files_are_served_before_the_worker_and_through_its_binding(
    code: str, date: str, files: Path
) -> None:
    (files / "large.bin").write_bytes(bytes(range(256)) * 1024)
    template(
        files.parent,
        code,
        compatibility_date=date,
        assets={"directory": "./public", "binding": "ASSETS", "not_found_handling": "404-page"},
    )

    async with edge(files.parent) as server:
        direct = await server.get("/style.css")
        large = await server.get("/large.bin")
        head = await server.http.head("/large.bin")
        posted = await server.http.post("/style.css")
        by_worker = await server.get("/worker")
        by_binding = await server.get("/none")
        moved = await server.get("/file.html")

    assert (direct.text, direct.headers["content-length"]) == ("a {}", "4")
    assert "x-localedge-isolate" not in direct.headers
    assert large.content == bytes(range(256)) * 1024
    assert (head.headers["content-length"], head.content) == ("262144", b"")
    assert posted.status_code == 405
    assert by_worker.text == "worker GET"
    assert (by_binding.status_code, by_binding.text) == (404, "lost")
    assert "x-localedge-isolate" in by_binding.headers
    assert (moved.status_code, moved.headers["location"]) == (307, "/file")


@pytest.mark.processes
@pytest.mark.anyio
async def test_a_worker_that_runs_first_changes_what_its_files_answer(files: Path) -> None:
    (files / "large.bin").write_bytes(b"x" * 300_000)
    template(
        files.parent,
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                answer = await self.env.ASSETS.fetch(request)
                return Response(answer.body, status=answer.status, headers={"x-seen": "yes"})
        """,
        assets={"directory": "public", "binding": "ASSETS", "run_worker_first": True},
    )

    async with edge(files.parent) as server:
        page = await server.get("/style.css")
        large = await server.get("/large.bin")

    assert (page.text, page.headers["x-seen"]) == ("a {}", "yes")
    assert large.content == b"x" * 300_000
