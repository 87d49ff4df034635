"""Judgement: scripted, or a model's when one is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from doc_team.tools import missing, summarise
from edgestate import OpenAIModel
from edgestate.models import Message

ABSENT: Final = "does not mention: "


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a summary stands, and why."""

    is_accepted: bool
    reason: str


class Judge(Protocol):
    """What takes judgement in the work."""

    async def summary(self, text: str, *, advice: str) -> str:
        """What `text` says, with the critic's last words taken to heart."""

    async def verdict(self, summary: str, terms: Sequence[str]) -> Verdict:
        """Whether `summary` is good enough for a text with these terms."""


class ScriptedJudge:
    """The same judgement every time: a summary has to mention a text's most frequent terms."""

    async def summary(self, text: str, *, advice: str) -> str:
        _, found, terms = advice.partition(ABSENT)
        return summarise(text, must_mention=terms.split(", ") if found else ())

    async def verdict(self, summary: str, terms: Sequence[str]) -> Verdict:
        absent = missing([summary], terms)
        if absent:
            return Verdict(False, f"the summary {ABSENT}{', '.join(absent)}")
        return Verdict(True, "the summary mentions the terms that count")


class ModelJudge:
    """A model behind an OpenAI-compatible API."""

    def __init__(self, model: OpenAIModel, norms: Sequence[str] = ()) -> None:
        self._model = model
        self._norms = " ".join(f" The team has agreed: {norm}" for norm in norms)

    async def summary(self, text: str, *, advice: str) -> str:
        order = "Summarise the document in at most three sentences."
        if advice:
            order += f" A reviewer said of your last summary: {advice}"
        return await self._asked(order, text)

    async def verdict(self, summary: str, terms: Sequence[str]) -> Verdict:
        order = (
            "You review a summary. Answer ACCEPT or REJECT, then the reason in one sentence. "
            f"The document's main terms are {', '.join(terms)}."
        )
        answer = await self._asked(order, summary)
        word, _, reason = answer.partition(" ")
        return Verdict(word.strip(".:,").upper() == "ACCEPT", reason.strip() or answer)

    async def _asked(self, order: str, text: str) -> str:
        messages: list[Message] = [
            {"role": "system", "content": order + self._norms},
            {"role": "user", "content": text},
        ]
        return (await self._model.complete(messages, [])).text.strip()


def judge_of(env: Any, norms: Sequence[str] = ()) -> Judge:
    """The judge that the environment asks for: a model if MODEL_URL is set, else the script."""
    if getattr(env, "MODEL_URL", ""):
        return ModelJudge(OpenAIModel.from_env(env), norms)
    return ScriptedJudge()
