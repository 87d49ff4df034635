"""The globs of `migrations_pattern`: which paths they match.

Wrangler matches with minimatch 5.1.9 (`dot: false`); the rules here are that version's: `*`, `?`,
`[…]`, `**` as a whole segment, `{a,b}` and `{1..3}`, `@(a|b)` and its kin, a leading `!` negates,
a leading `#` matches nothing. Names that begin with a dot match only a pattern that says so.

Source: wrangler 4.164 (minimatch 5.1.9 and brace-expansion 2.1.8 in its bundle), read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from localedge.d1.migrations.braces import expand
from localedge.d1.migrations.globsegment import compile_segment

_ANY: Final = "**"
_Part = str | re.Pattern[str]


class Glob:
    """One pattern, ready to be asked."""

    def __init__(self, pattern: str) -> None:
        bare = pattern.lstrip("!")
        self._matches_nothing = pattern.startswith("#")
        self._matches_empty = pattern == ""
        self._is_negated = (len(pattern) - len(bare)) % 2 == 1
        self._sets = [_parts(expanded) for expanded in expand(bare)]

    def matches(self, path: str) -> bool:
        """Whether `path`, with `/` between its segments, is one that the pattern means."""
        return self._test(path, could_begin=False)

    def could_contain(self, folder: str) -> bool:
        """Whether a path below `folder` may match: a walk need not enter other folders."""
        return self._test(folder, could_begin=True)

    def _test(self, path: str, *, could_begin: bool) -> bool:
        if self._matches_nothing:
            return False
        if self._matches_empty:
            return path == ""
        segments = path.split("/")
        is_hit = any(_match(segments, parts, could_begin) for parts in self._sets)
        return is_hit != self._is_negated


def _parts(pattern: str) -> list[_Part]:
    return [
        segment if segment in (_ANY, "") else compile_segment(segment)
        for segment in re.split(r"/+", pattern)
    ]


def _match(segments: Sequence[str], parts: Sequence[_Part], could_begin: bool) -> bool:
    """Whether `parts` match all `segments`; `could_begin`: or would, with more of them."""
    for at, part in enumerate(parts):
        if part == _ANY:
            return _match_any(segments[at:], parts[at + 1 :], could_begin)
        if at == len(segments):
            return could_begin
        if not _match_one(segments[at], part):
            return False
    return len(segments) == len(parts)


def _match_any(segments: Sequence[str], rest: Sequence[_Part], could_begin: bool) -> bool:
    """`**` before `rest`: any number of segments, none of which begins with a dot."""
    if not rest:
        # At the end it has to stand for something.
        visible = all(not segment.startswith(".") for segment in segments)
        return visible and (could_begin or bool(segments))
    for taken in range(len(segments) + 1):
        if _match(segments[taken:], rest, could_begin):
            return True
        if taken < len(segments) and segments[taken].startswith("."):
            return False
    return could_begin


def _match_one(segment: str, part: _Part) -> bool:
    return segment == part if isinstance(part, str) else part.match(segment) is not None
