"""LangGraph's graph on its AsyncSqliteSaver: a node for each step, durability "sync"."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import aiosqlite
from bench.foreign.lives import STEPS, Life
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    """What the graph remembers."""

    done: int


class LangGraph:
    """The store as its documentation has it: the same thread id goes on where it was."""

    name = "LangGraph, AsyncSqliteSaver"

    def live(self, life: Life) -> bool:
        """Begin, or go on; whether the graph is at its end."""
        return asyncio.run(self._live(life))

    async def _live(self, life: Life) -> bool:
        async with aiosqlite.connect(life.folder / "state.sqlite") as connection:
            app = _graph(life).compile(checkpointer=_saver(connection, life))
            config: Any = {"configurable": {"thread_id": "task"}}
            state = await app.aget_state(config)
            # `next` is no sign of the end: it leaves out a node whose writes are stored already.
            begun = state.created_at is not None
            end = await app.ainvoke(None if begun else {"done": 0}, config, durability="sync")
            return bool(end["done"] == STEPS)


def _graph(life: Life) -> Any:
    def node(step: int) -> Any:
        async def act(state: State) -> State:
            life.effect(step)
            return {"done": state["done"] + 1}

        return act

    graph = StateGraph(State)
    names = [f"step {step}" for step in range(STEPS)]
    for step, name in enumerate(names):
        graph.add_node(name, node(step))
    for one, other in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(one, other)
    return graph


def _saver(connection: Any, life: Life) -> AsyncSqliteSaver:
    class Saver(AsyncSqliteSaver):
        async def aput(self, *args: Any, **kwargs: Any) -> Any:
            with life.point():
                return await super().aput(*args, **kwargs)

        async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
            with life.point():
                await super().aput_writes(*args, **kwargs)

    return Saver(connection)
