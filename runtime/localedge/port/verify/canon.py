"""Values that must differ between two runs, written so that two runs can be compared.

An id becomes `<id 1>`, `<id 2>` … in the order in which a side first showed it, so the same id in
two places is the same on both sides or a difference. A time near now becomes `<time>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from localedge import clock
from localedge.errors import Exit, OperatorError

NEAR_S: Final = 2 * 86_400.0
"""A time that is further from now than this is a constant of the worker, and compared."""

_UUID: Final = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_ID: Final = rf"(?<![0-9A-Za-z])(?:{_UUID}|[0-9a-f]{{16,64}})(?![0-9A-Za-z])"
_ISO: Final = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_HTTP: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
_EPOCH: Final = r"(?<![\d.])\d{10}(?:\d{3})?(?:\.\d+)?(?![\d.])"
_BUILT_IN: Final = {"id": _ID, "iso": _ISO, "http": _HTTP, "epoch": _EPOCH}


class Patterns:
    """What differs between two runs: ids and times, and what `declared` names besides.

    Errors: OperatorError for a pattern that is no regular expression, or that an empty text fits.
    """

    def __init__(self, declared: Mapping[str, str] | None = None) -> None:
        self.names: dict[str, str] = {}
        parts = []
        for at, (name, pattern) in enumerate((declared or {}).items()):
            _check(name, pattern)
            self.names[f"own{at}"] = name
            parts.append(f"(?P<own{at}>{pattern})")
        parts += [f"(?P<{name}>{pattern})" for name, pattern in _BUILT_IN.items()]
        self.expression = re.compile("|".join(parts))


def _check(name: str, pattern: str) -> None:
    try:
        is_odd = re.compile(pattern).groupindex or re.fullmatch(pattern, "") is not None
    except re.error as error:
        raise OperatorError(
            "verify/bad-pattern",
            f"the pattern {name} is no regular expression: {error}.",
            "It is one of Python's re; in a shell put it into single quotes.",
            exit=Exit.USAGE,
        ) from error
    if is_odd:
        raise OperatorError(
            "verify/bad-pattern",
            f"the pattern {name} must not fit an empty text, nor name its groups.",
            "Write (…) for (?P<name>…), and + for *.",
            exit=Exit.USAGE,
        )


class Canon:
    """What one side has shown so far: its ids, in order."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        self._tokens: dict[str, str] = {}
        self._values: dict[str, str] = {}

    def text(self, text: str) -> str:
        """`text` with tokens for what must differ; ids that are new get the next numbers."""
        return self._patterns.expression.sub(lambda found: self._token(found, grows=True), text)

    def known(self, text: str) -> str:
        """The same, but ids that the side has not shown yet are all `<id>`."""
        return self._patterns.expression.sub(lambda found: self._token(found, grows=False), text)

    def filled(self, text: str, theirs: Canon) -> str:
        """`text` of the side `theirs`, with our ids in the places of theirs that we know."""

        def ours(found: re.Match[str]) -> str:
            token = theirs._tokens.get(found[0])
            return self._values.get(token, found[0]) if token is not None else found[0]

        return self._patterns.expression.sub(ours, text)

    def _token(self, found: re.Match[str], *, grows: bool) -> str:
        value, kind = found[0], found.lastgroup or ""
        if kind in self._patterns.names:
            return f"<{self._patterns.names[kind]}>"
        if kind != "id":
            return "<time>" if _is_near(kind, value) else value
        if value not in self._tokens:
            if not grows:
                return "<id>"
            token = f"<id {len(self._tokens) + 1}>"
            self._tokens[value], self._values[token] = token, value
        return self._tokens[value]


def _is_near(kind: str, value: str) -> bool:
    try:
        seconds = _seconds(kind, value)
    except ValueError:
        return False
    return abs(seconds - clock.now()) < NEAR_S


def _seconds(kind: str, value: str) -> float:
    if kind == "epoch":
        whole = value.partition(".")[0]
        return float(value) / (1000 if len(whole) == 13 else 1)
    moment = datetime.fromisoformat(value) if kind == "iso" else parsedate_to_datetime(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
