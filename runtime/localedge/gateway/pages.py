"""What a client gets in place of a response: HTML for browsers, JSON or text for others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from typing import Final

from localedge.isolate.failures import Failure

Line = tuple[bytes, bytes]

EXPLAINED: Final = {
    "exception": "The worker raised an exception.",
    "internalError": "The isolate (pid {pid}) was killed while it had this request.",
    "exceededCpu": "The worker used more CPU time than limits.cpu_ms allows; its isolate (pid "
    "{pid}) was killed.",
    "exceededWallTime": "The worker blocked its event loop for longer than loop_block_s; its "
    "isolate (pid {pid}) was killed.",
    "exceededMemory": "The isolate (pid {pid}) used more memory than memory_mb and was killed.",
    "bodyTooLarge": "The request's body is larger than 100 MB (100,000,000 bytes).",
    "canceled": "The request was cancelled.",
    "notLoaded": "The worker could not be loaded.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no response, and which request it was."""

    outcome: str
    method: str
    url: str
    ray: str
    pid: int | None = None
    failure: Failure | None = None
    status: int = 500

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        return EXPLAINED.get(self.outcome, "The request failed.").format(pid=self.pid)


@dataclass(frozen=True, slots=True)
class Page:
    """A whole response."""

    status: int
    lines: list[Line]
    body: bytes


def page_for(trouble: Trouble, accept: str) -> Page:
    """The answer in the form that the client's Accept header asks for."""
    if "text/html" in accept:
        body, kind = _html(trouble), "text/html; charset=utf-8"
    elif "json" in accept:
        body, kind = _json(trouble), "application/json"
    else:
        body, kind = _text(trouble), "text/plain; charset=utf-8"
    data = body.encode("utf-8", "replace")
    lines = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(data)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-localedge-outcome", trouble.outcome.encode()),
        (b"x-localedge-ray", trouble.ray.encode()),
    ]
    if trouble.pid is not None:
        lines.append((b"x-localedge-isolate", b"%d" % trouble.pid))
    if "html" in kind:
        lines.append((b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"))
    return Page(trouble.status, lines, data)


def _text(trouble: Trouble) -> str:
    text = f"{trouble.outcome}: {trouble.sentence}\n{trouble.method} {trouble.url}\n"
    text += f"ray {trouble.ray}\n"
    if trouble.failure is not None:
        text += f"\n{trouble.failure.text}"
    return text


def _json(trouble: Trouble) -> str:
    failure = trouble.failure
    return json.dumps(
        {
            "outcome": trouble.outcome,
            "message": trouble.sentence,
            "method": trouble.method,
            "url": trouble.url,
            "ray": trouble.ray,
            "pid": trouble.pid,
            "error": None
            if failure is None
            else {"kind": failure.kind, "message": failure.message, "traceback": failure.text},
        }
    )


_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; } h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem .8rem; border: 1px solid #8884; border-radius: 4px; }
.at { background: #e5484d33; display: block; } .dim { opacity: .7; }
"""


def _html(trouble: Trouble) -> str:
    title = HTTPStatus(trouble.status).phrase
    failure = trouble.failure
    heading = f"{failure.kind}: {failure.message}" if failure is not None else trouble.sentence
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>",
        "<meta name=viewport content='width=device-width'>",
        f"<style>{_STYLE}</style><h1>{escape(heading)}</h1>",
        f"<p>{escape(trouble.sentence)}</p>",
        f"<p class=dim><code>{escape(trouble.method)} {escape(trouble.url)}</code> · "
        f"ray <code>{escape(trouble.ray)}</code> · outcome <code>{escape(trouble.outcome)}</code>",
    ]
    if failure is not None:
        parts.extend(_html_frames(failure))
        parts.append(f"<h2>Traceback</h2><pre>{escape(failure.text)}</pre>")
    return "".join(parts)


def _html_frames(failure: Failure) -> list[str]:
    parts: list[str] = []
    for frame in reversed(failure.frames):
        place = f"{frame.file}:{frame.line} in {frame.function}"
        lines = "".join(
            f"<span{' class=at' if number == frame.line else ''}>{number:>5}  {escape(text)}"
            f"{'' if number == frame.line else chr(10)}</span>"
            for number, text in frame.source
        )
        parts.append(f"<h2><code>{escape(place)}</code></h2><pre>{lines}</pre>")
    return parts
