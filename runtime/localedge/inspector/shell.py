"""What is around every view: navigation, the state of the connection, light and dark."""

from __future__ import annotations

from collections.abc import Iterator

from localedge.inspector.html import Html, document, fragment, tag
from localedge.inspector.inspection import PREFIX, Inspection
from localedge.inspector.views import View, views


def page(inspection: Inspection, view: View, content: Html) -> Html:
    """The whole page with `content`, which `view` has made."""
    worker = inspection.supervisor.pools[0].project.name
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{view.title} · {worker} · localedge"),
        tag("link", rel="icon", href=f"{PREFIX}/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href=f"{PREFIX}/static/app.css"),
        _style(view),
        tag("script", src=f"{PREFIX}/static/theme.js"),
        tag("script", type="module", src=f"{PREFIX}/static/{view.name}.js"),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#main"),
        _header(view, worker),
        tag("main", content, id="main", tabindex=-1),
        tag("div", id="notices", class_="notices", role="status", aria_live="polite"),
        data_view=view.name,
        data_server=inspection.server,
    )
    return document(tag("html", head, body, lang="en"))


def _style(view: View) -> Html | None:
    if not view.has_style:
        return None
    return tag("link", rel="stylesheet", href=f"{PREFIX}/static/{view.name}.css")


def _header(current: View, worker: str) -> Html:
    brand = tag(
        "a",
        tag("img", src=f"{PREFIX}/static/icon.svg", alt="", width=20, height=20),
        tag("span", "localedge"),
        tag("span", worker, class_="worker"),
        class_="brand",
        href=f"{PREFIX}/",
    )
    return tag(
        "header",
        brand,
        tag("nav", fragment(*_links(current)), aria_label="Views"),
        tag(
            "div",
            tag("span", "connecting", id="connection", class_="pill", data_state="connecting"),
            tag("button", "Theme", id="theme", type="button", class_="quiet"),
            class_="tools",
        ),
        class_="top",
    )


def _links(current: View) -> Iterator[Html]:
    for number, view in enumerate(views(), 1):
        yield tag(
            "a",
            view.title,
            href=address(view),
            aria_current="page" if view is current else None,
            title=f"Alt+{number}",
            accesskey=str(number),
        )


def address(view: View) -> str:
    """Where `view` is; the first one is what opens first."""
    return f"{PREFIX}/" if view is views()[0] else f"{PREFIX}/view/{view.name}"
