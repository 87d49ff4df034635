"""Durable steps on LangGraph's savers for SQLite: a chain of nodes, each storing 1 KB."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

import aiosqlite
from bench.steps import SYNCHRONOUS, Counted, Job, Measured, measured
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class _State(TypedDict):
    text: str


def _chain(job: Job) -> Any:
    graph = StateGraph(_State)
    names = [f"step{number}" for number in range(job.steps)]
    for name in names:
        graph.add_node(name, lambda state: {"text": "y" * job.output_bytes})
    for one, next_one in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(one, next_one)
    return graph


def _pragmas(job: Job) -> tuple[str, str]:
    return "PRAGMA journal_mode=WAL", f"PRAGMA synchronous={SYNCHRONOUS[job.durability]}"


def measure_sync(job: Job, file: Path) -> Measured:
    """The steps of `job` with SqliteSaver, `durability="sync"`."""
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        for pragma in _pragmas(job):
            connection.execute(pragma)
        app = _chain(job).compile(checkpointer=SqliteSaver(connection))

        def task(name: str) -> None:
            thread = {"configurable": {"thread_id": name}}
            app.invoke({"text": ""}, thread, durability="sync")

        for number in range(job.warm_up):
            task(f"warm {number}")
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(job.tasks):
            task(f"timed {number}")
        took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        counted = Counted()
        connection.set_trace_callback(counted)
        task("counted")
        return measured(job, took_s, cpu_s, counted)


async def measure_async(job: Job, file: Path) -> Measured:
    """The steps of `job` with AsyncSqliteSaver, `durability="sync"`."""
    async with aiosqlite.connect(file) as connection:
        for pragma in _pragmas(job):
            await connection.execute(pragma)
        app = _chain(job).compile(checkpointer=AsyncSqliteSaver(connection))

        async def task(name: str) -> None:
            thread = {"configurable": {"thread_id": name}}
            await app.ainvoke({"text": ""}, thread, durability="sync")

        for number in range(job.warm_up):
            await task(f"warm {number}")
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(job.tasks):
            await task(f"timed {number}")
        took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        counted = Counted()
        await connection.set_trace_callback(counted)
        await task("counted")
        return measured(job, took_s, cpu_s, counted)
