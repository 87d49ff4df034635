"""What the workers do with a text: find its terms, and say what it is about. No network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

TERMS: Final = 8
ASKED_TERMS: Final = 3
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_CODE: Final = re.compile(r"^(```|~~~).*?^\1\s*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_NO_PROSE: Final = re.compile(r"^\s*([#|>].*|[-=*]{3,}\s*)$", re.MULTILINE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_COMMON_WORDS: Final = """
    about after again also another because been before being between both cannot does each
    else even every from have here into itself just like made make more most must never
    nothing only other over same shall should since some such than that their them then there
    these they this those through under until very want what when where which while whom will
    with within without would your
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def index_text(text: str) -> dict[str, int]:
    """How often the most frequent terms of `text` are in it, in order of weight."""
    words = (word.lower() for word in _WORD.findall(_prose(text)))
    counted = Counter(word for word in words if word not in _COMMON)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[:TERMS])


def summarise(text: str, *, must_mention: Sequence[str] = ()) -> str:
    """The first two sentences of `text`, and the first one for each term that must be there."""
    sentences = [" ".join(part.split()) for part in _SENTENCE.split(_prose(text))]
    sentences = [sentence for sentence in sentences if _WORD.search(sentence)]
    chosen = sentences[:2]
    for term in must_mention:
        if missing(chosen, [term]):
            chosen += [s for s in sentences if not missing([s], [term])][:1]
    return " ".join(chosen)


def missing(texts: Sequence[str], terms: Sequence[str]) -> list[str]:
    """The terms that none of `texts` mentions."""
    words = {word.lower() for text in texts for word in _WORD.findall(text)}
    return [term for term in terms if term not in words]


def _prose(text: str) -> str:
    """`text` without what is no prose in Markdown: code, headings, tables, quotes, comments."""
    return _NO_PROSE.sub("\n\n", _CODE.sub("\n\n", text))
