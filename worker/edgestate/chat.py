"""Models that an agent can ask: behind the OpenAI-compatible chat API, or scripted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import JsonValue

from edgestate.failures import ModelFailed
from edgestate.models import Message
from edgestate.tools import Tool

BUSY_STATUSES: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """The model's wish to have a tool called."""

    id: str
    name: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The model's turn: its text, and the tools that it wants called."""

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()


class ChatModel(Protocol):
    """A model that continues a conversation."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> ChatReply:
        """The model's next turn.

        Errors: ModelFailed, which says whether asking again may help.
        """


class ScriptedModel:
    """Answers with given replies, chosen by how many turns it has had in the conversation.

    Shape: a reply may be a ModelFailed, which is raised. After the last one it repeats it. It
    keeps nothing, so a restarted worker gets the same turn again.
    """

    def __init__(self, replies: Iterable[ChatReply | ModelFailed]) -> None:
        self._replies = list(replies)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> ChatReply:
        turn = sum(message.get("role") == "assistant" for message in messages)
        reply = self._replies[min(turn, len(self._replies) - 1)]
        if isinstance(reply, ModelFailed):
            raise reply
        return reply


class Fetch(Protocol):
    """`workers.fetch`."""

    async def __call__(
        self, resource: str, *, method: str, headers: dict[str, str], body: str
    ) -> Any:
        """The response: `status`, `headers.get(name)`, `await text()`."""


class OpenAIModel:
    """A model behind an OpenAI-compatible `/chat/completions`.

    Shape: `fetch` is `workers.fetch` unless given.
    Units: `timeout_s` for one turn.
    Source: platform.openai.com/docs/api-reference/chat, read 2026-12-01.
    """

    def __init__(
        self,
        url: str,
        key: str,
        model: str,
        *,
        timeout_s: float = 60.0,
        fetch: Fetch | None = None,
    ) -> None:
        self._url = url.rstrip("/") + "/chat/completions"
        self._key = key
        self._model = model
        self._timeout_s = timeout_s
        self._fetch = fetch

    @classmethod
    def from_env(cls, env: Any, *, fetch: Fetch | None = None) -> OpenAIModel:
        """The model that the vars MODEL_URL and MODEL_NAME and the secret MODEL_KEY name."""
        return cls(env.MODEL_URL, env.MODEL_KEY, env.MODEL_NAME, fetch=fetch)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> ChatReply:
        body: dict[str, JsonValue] = {
            "model": self._model,
            "messages": [_sent(message) for message in messages],
        }
        if tools:
            body["tools"] = [_described(tool) for tool in tools]
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._send(json.dumps(body, ensure_ascii=False))
                text = await response.text()
        except TimeoutError as error:
            raise ModelFailed("the model did not answer in time", may_retry=True) from error
        except OSError as error:
            raise ModelFailed(f"the model cannot be reached: {error}", may_retry=True) from error
        if response.status != 200:
            raise _refused(response, text)
        return _reply(text)

    async def _send(self, body: str) -> Any:
        if self._fetch is None:
            from workers import fetch

            call: Any = fetch
        else:
            call = self._fetch
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._key}"}
        return await call(self._url, method="POST", headers=headers, body=body)


def _refused(response: Any, text: str) -> ModelFailed:
    status: int = response.status
    after = response.headers.get("retry-after")
    retry_after_s = float(after) if after and after.replace(".", "", 1).isdecimal() else None
    return ModelFailed(
        f"the model answered {status}: {text[:200]}",
        may_retry=status in BUSY_STATUSES or status >= 500,
        retry_after_s=retry_after_s,
    )


def _described(tool: Tool) -> JsonValue:
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
        },
    }


def _sent(message: Message) -> JsonValue:
    """A message of a transcript (the document's keys) in the API's form."""
    sent: Message = {"role": message.get("role"), "content": message.get("content")}
    calls = message.get("toolCalls")
    if isinstance(calls, list) and calls:
        sent["tool_calls"] = [_sent_call(call) for call in calls if isinstance(call, dict)]
    if "toolCallId" in message:
        sent["tool_call_id"] = message["toolCallId"]
    return sent


def _sent_call(call: dict[str, JsonValue]) -> JsonValue:
    arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call.get("name"), "arguments": arguments},
    }


def _reply(text: str) -> ChatReply:
    try:
        message = json.loads(text)["choices"][0]["message"]
        calls = tuple(
            ToolRequest(call["id"], call["function"]["name"], _arguments(call["function"]))
            for call in message.get("tool_calls") or ()
        )
        return ChatReply(message.get("content") or "", calls)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelFailed("the model's answer is no chat completion", may_retry=True) from error


def _arguments(function: dict[str, Any]) -> JsonValue:
    """The arguments as a value; a text that is no JSON stays one, for the tool to refuse."""
    text = function.get("arguments") or "{}"
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return str(text)
    return value
