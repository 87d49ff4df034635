"""What an agent is: its tools, how it plans or which model it asks, and how careful it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from edgestate.chat import ChatModel, ToolRequest
from edgestate.errors import LeaseTooShort
from edgestate.failures import ModelFailed
from edgestate.models import Message, StepResult, TaskState
from edgestate.policy import CheckpointPolicy
from edgestate.tools import Backoff, Tool, ToolCall

MODEL: Final = "model"
"""The action of a step that asks the model."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step to be made: which tool, with what; `group` names steps that may run at once."""

    action: str
    input: JsonValue = None
    group: str | None = None


Planner = Callable[[str], Awaitable[Sequence[PlannedStep]]]


def _sorry(failure: ModelFailed) -> str:
    return "The model is not available; nothing more was done."


@dataclass(frozen=True, slots=True)
class Agent:
    """Everything that a task needs besides its state.

    Shape: with `plan`, a task has the steps that the goal needs from the start; with `model`,
    the model says turn by turn which tools it wants. `degrade` is the answer when the model
    fails. `max_claims` is how often a task may be taken up without any progress before it is
    set aside.
    Units: `lease_ttl_s` more than every tool's timeout; `max_wait_s` for a rate window to open,
    beyond that the run ends and a later one goes on.
    """

    tools: Mapping[str, Tool]
    plan: Planner | None = None
    model: ChatModel | None = None
    system: str | None = None
    policy: CheckpointPolicy = CheckpointPolicy.every_step()  # noqa: RUF009  (frozen)
    lease_ttl_s: float = 60.0
    max_iterations: int = 10
    model_timeout_s: float = 45.0
    model_retries: int = 2
    model_backoff: Backoff = Backoff(first_s=0.5)  # noqa: RUF009  (frozen)
    max_wait_s: float = 20.0
    max_claims: int = 5
    degrade: Callable[[ModelFailed], str] = _sorry

    def __post_init__(self) -> None:
        if (self.plan is None) == (self.model is None):
            raise ValueError("an agent has a plan or a model")
        timeouts = {name: tool.timeout_s for name, tool in self.tools.items()}
        if self.model is not None:
            timeouts[MODEL] = self.model_timeout_s
        for name, timeout_s in timeouts.items():
            if timeout_s >= self.lease_ttl_s:
                raise LeaseTooShort(name, timeout_s, self.lease_ttl_s)

    def prompt(self, goal: str) -> list[Message]:
        """The conversation before the model's first turn."""
        system: list[Message] = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": goal}]

    async def first_steps(self, goal: str) -> list[StepResult]:
        """The steps that a new task begins with."""
        if self.plan is None:
            return [self.step(0, PlannedStep(MODEL))]
        return [self.step(i, planned) for i, planned in enumerate(await self.plan(goal))]

    def step(self, index: int, planned: PlannedStep) -> StepResult:
        """`planned` as step number `index`, with its tool's effect."""
        tool = self.tool(planned.action)
        return StepResult(
            step_index=index,
            action=planned.action,
            input=planned.input,
            effect="read" if tool is None else tool.effect,
            group=planned.group,
        )

    def tool(self, name: str) -> Tool | None:
        """The tool of that name; asking the model is one too."""
        if name == MODEL and self.model is not None:
            return model_tool(self)
        return self.tools.get(name)


def model_tool(agent: Agent) -> Tool:
    """Asking the model, as a tool; `ToolCall.input` is the transcript."""

    async def ask(call: ToolCall) -> JsonValue:
        model = agent.model
        assert model is not None
        reply = await model.complete(call.input, list(agent.tools.values()))
        return {
            "text": reply.text,
            "toolCalls": [
                {"id": wish.id, "name": wish.name, "arguments": wish.arguments}
                for wish in reply.tool_calls
            ],
        }

    return Tool(
        name=MODEL,
        run=ask,
        effect="read",
        timeout_s=agent.model_timeout_s,
        max_retries=agent.model_retries,
        backoff=agent.model_backoff,
    )


def follow_up(agent: Agent, task: TaskState) -> list[StepResult]:
    """The steps that come after those that all have their results; none if the task is over.

    The same for the same task in every worker: what was not stored is made again.
    """
    if agent.plan is not None or not task.steps:
        return []
    if task.steps[-1].action != MODEL:
        return [agent.step(len(task.steps), PlannedStep(MODEL))]
    return list(_wished(agent, task, _wishes(task.steps[-1])))


def _wished(agent: Agent, task: TaskState, wishes: Iterable[ToolRequest]) -> Iterable[StepResult]:
    """A step per wish; the tool's message is in it already, its content comes with the result."""
    first = len(task.steps)
    for index, wish in enumerate(wishes, first):
        step = agent.step(index, PlannedStep(wish.name, wish.arguments, group=f"turn {first}"))
        step.messages = [{"role": "tool", "toolCallId": wish.id, "content": None}]
        yield step


def _wishes(step: StepResult) -> list[ToolRequest]:
    calls = step.output.get("toolCalls") if isinstance(step.output, dict) else None
    if not isinstance(calls, list):
        return []
    return [
        ToolRequest(str(call.get("id")), str(call.get("name")), call.get("arguments"))
        for call in calls
        if isinstance(call, dict)
    ]


def said(step: StepResult) -> tuple[str, bool]:
    """What the model said in this step, and whether it wishes for tools."""
    text = step.output.get("text") if isinstance(step.output, dict) else None
    return (text if isinstance(text, str) else ""), bool(_wishes(step))
