"""The model behind the OpenAI-compatible API: what is sent, what comes back, what may go wrong."""

from __future__ import annotations

import asyncio
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from edgestate import ChatReply, ModelFailed, OpenAIModel, Tool, ToolRequest
from edgestate.models import Message

pytestmark = pytest.mark.anyio


class Server:
    """What `workers.fetch` reaches: remembers the request, gives a set answer."""

    def __init__(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.body = body if isinstance(body, str) else json.dumps(body)
        self.status, self.headers = status, headers or {}
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def fetch(self, resource: str, **options: Any) -> Any:
        self.requests.append((resource, options))

        async def text() -> str:
            return self.body

        return SimpleNamespace(status=self.status, headers=self.headers, text=text)


def model(server: Server) -> OpenAIModel:
    env = SimpleNamespace(MODEL_URL="https://model.test/v1/", MODEL_KEY="k", MODEL_NAME="m")
    return OpenAIModel.from_env(env, fetch=server.fetch)


def said(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


async def none(call: Any) -> None:
    return None


MESSAGES: list[Message] = [
    {"role": "user", "content": "flights?"},
    {
        "role": "assistant",
        "content": "",
        "toolCalls": [{"id": "c1", "name": "look", "arguments": {"q": 1}}],
    },
    {"role": "tool", "toolCallId": "c1", "content": "[]"},
]


async def test_the_conversation_is_sent_in_the_apis_form() -> None:
    server = Server(said(content="two"))
    look = Tool("look", none, "read", description="Looks.", parameters={"type": "object"})

    reply = await model(server).complete(MESSAGES, [look])

    (url, options) = server.requests[0]
    sent = json.loads(options["body"])
    assert reply == ChatReply("two")
    assert (url, options["method"]) == ("https://model.test/v1/chat/completions", "POST")
    assert options["headers"]["authorization"] == "Bearer k"
    assert sent["model"] == "m"
    assert sent["messages"][1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
    ]
    assert sent["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "[]"}
    assert sent["tools"][0]["function"] == {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object"},
    }


async def test_tool_calls_are_read_and_odd_arguments_kept_for_the_tool() -> None:
    calls = [
        {"id": "a", "function": {"name": "look", "arguments": '{"q": 2}'}},
        {"id": "b", "function": {"name": "look", "arguments": "not json"}},
        {"id": "c", "function": {"name": "look"}},
    ]

    reply = await model(Server(said(content=None, tool_calls=calls))).complete(MESSAGES, [])

    assert reply.tool_calls == (
        ToolRequest("a", "look", {"q": 2}),
        ToolRequest("b", "look", "not json"),
        ToolRequest("c", "look", {}),
    )


@pytest.mark.parametrize(
    ("status", "may_retry"), [(400, False), (401, False), (404, False), (408, True), (429, True)]
)
async def test_a_refusal_says_whether_to_ask_again(status: int, may_retry: bool) -> None:
    server = Server("nope", status, {"retry-after": "7"})

    with pytest.raises(ModelFailed, match=str(status)) as failure:
        await model(server).complete(MESSAGES, [])

    assert (failure.value.may_retry, failure.value.retry_after_s) == (may_retry, 7)


@pytest.mark.parametrize("after", ["soon", "²", ""])
async def test_a_pause_that_is_no_number_counts_as_none(after: str) -> None:
    server = Server("busy", 429, {"retry-after": after})

    with pytest.raises(ModelFailed) as failure:
        await model(server).complete(MESSAGES, [])

    assert failure.value.retry_after_s is None


@pytest.mark.parametrize("body", ["", "<html>", "{}", "[]", '{"choices": []}'])
async def test_what_is_no_completion_may_be_asked_for_again(body: str) -> None:
    with pytest.raises(ModelFailed, match="no chat completion") as failure:
        await model(Server(body)).complete(MESSAGES, [])

    assert failure.value.may_retry


async def test_a_network_error_and_a_silence_may_pass() -> None:
    async def broken(resource: str, **options: Any) -> Any:
        raise OSError("no route")

    async def silent(resource: str, **options: Any) -> Any:
        await asyncio.sleep(60)

    for fetch in (broken, silent):
        asked = OpenAIModel("https://model.test", "k", "m", timeout_s=0.02, fetch=fetch)
        with pytest.raises(ModelFailed) as failure:
            await asked.complete(MESSAGES, [])
        assert failure.value.may_retry


async def test_workers_fetch_is_used_where_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server(said(content="two"))
    workers = ModuleType("workers")
    workers.fetch = server.fetch  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "workers", workers)

    reply = await OpenAIModel("https://model.test", "k", "m").complete(MESSAGES, [])

    assert reply.text == "two"
