"""Durable steps on DBOS with its SQLite system database, in the journal mode of all others."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy
from bench.steps import SYNCHRONOUS, Counted, Job, Measured, measured
from dbos import DBOS, SetWorkflowID


def measure(job: Job, file: Path) -> Measured:
    """The steps of `job`, each a DBOS step of one workflow per task."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    opened: list[Any] = []

    @sqlalchemy.event.listens_for(sqlalchemy.Engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA synchronous={SYNCHRONOUS[job.durability]}")
        opened.append(connection)

    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{file}",
            "run_admin_server": False,
            "log_level": "ERROR",
        }
    )

    @DBOS.step()
    def work(size: int) -> str:
        return "y" * size

    @DBOS.workflow()
    def workflow() -> int:
        return sum(len(work(job.output_bytes)) for _ in range(job.steps))

    def task(name: str) -> None:
        with SetWorkflowID(name):
            assert workflow() == job.steps * job.output_bytes

    DBOS.launch()
    try:
        for number in range(job.warm_up):
            task(f"warm {number}")
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(job.tasks):
            task(f"timed {number}")
        took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        counted = Counted()
        for connection in opened:
            connection.set_trace_callback(counted)
        task("counted")
        return measured(job, took_s, cpu_s, counted)
    finally:
        DBOS.destroy()
