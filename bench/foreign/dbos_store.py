"""DBOS on SQLite: a workflow with a step for each step; it recovers what was pending at launch."""

from __future__ import annotations

import threading
from typing import Any

from bench.foreign.lives import STEPS, Life
from dbos import DBOS, SetWorkflowID
from sqlalchemy.engine.default import DefaultDialect


class Dbos:
    """The store as its documentation has it: workflows are recovered when the process starts."""

    name = "DBOS, SQLite"

    def live(self, life: Life) -> bool:
        """Begin the workflow, or wait for the one that was recovered; whether it has succeeded."""
        DBOS(
            config={
                "name": "explored",
                "system_database_url": f"sqlite:///{life.folder / 'state.sqlite'}",
                "application_version": "1",
                "run_admin_server": False,
            }
        )

        @DBOS.step()
        def act(step: int) -> int:
            life.effect(step)
            return step

        @DBOS.workflow()
        def flow() -> int:
            return len([act(step) for step in range(STEPS)])

        DBOS.launch()
        with _counted_commits(life):
            if DBOS.get_workflow_status("task") is None:
                with SetWorkflowID("task"):
                    return bool(flow() == STEPS)
            handle: Any = DBOS.retrieve_workflow("task")
            return bool(handle.get_result() == STEPS)


class _counted_commits:  # noqa: N801  (used like a function)
    """Commits of this thread are points: the workflow runs in it, DBOS's own threads do not."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._thread = threading.get_ident()
        self._commit = DefaultDialect.do_commit

    def __enter__(self) -> None:
        life, thread, commit = self._life, self._thread, self._commit

        def do_commit(dialect: Any, connection: Any) -> None:
            if threading.get_ident() != thread:
                commit(dialect, connection)
                return
            with life.point():
                commit(dialect, connection)

        DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]

    def __exit__(self, *_error: object) -> None:
        DefaultDialect.do_commit = self._commit  # type: ignore[method-assign]
