"""A simple model of the whole repository layer, and the machine that compares the two."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from tests.team.machine_board import FIRST, GOAL
from tests.team.machine_knowledge import KnowledgeRules
from tests.team.machine_world import agents

from edgestate.team import history, rebuild, states


class TeamMachine(KnowledgeRules):
    """Everything that agents can do, in any order, on a database of its own."""

    @initialize()
    def begin(self) -> None:
        self.run(self._begin())
        self.begin_board()
        self.begin_talk()
        self.begin_goals()
        self.begin_knowledge()
        self.decided.append(f"split into {len(FIRST)} subtasks")

    async def _begin(self) -> None:
        await self.open()
        await self.team.goal(*FIRST)
        for name in ("planner",):
            await self.born(name)

    @rule(seconds=st.sampled_from((1, 15, 31)))
    def time_passes(self, seconds: int) -> None:
        self.pass_time(seconds)

    @rule(name=agents)
    def an_isolate_is_killed(self, name: str) -> None:
        self.run(self.born(name))

    @rule(name=agents, load=st.floats(0, 1))
    def beat(self, name: str, load: float) -> None:
        self.act(name, lambda member: member.roster.beat(task_id="t0", load=load))

        team = self.act(name, lambda member: member.roster.agents()).value
        assert [agent.agent_id for agent in team] == ["critic", "planner", "worker-1", "worker-2"]

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        if hasattr(self, "facts"):
            self.run(self._compare())

    async def _compare(self) -> None:
        stored = await states(self.team.record)
        for name, task in self.tasks.items():
            state = stored[name]
            found = (state.status, state.review, state.attempt, state.fence, state.context_version)
            wanted = (task.status, task.review, task.attempt, task.fence, task.context)
            assert found == wanted, name
        assert stored.keys() == self.tasks.keys()
        assert rebuild(await history(self.team.record)) == stored
        await self._compare_rows()

    async def _compare_rows(self) -> None:
        rows = self.team.rows
        results = await rows("SELECT task_id, attempt FROM task_results ORDER BY 1, 2")
        pairs = sorted((n, a) for n, task in self.tasks.items() for a in task.results)
        assert [(row["task_id"], row["attempt"]) for row in results] == pairs
        decided = await rows(f"SELECT decision FROM decision_log WHERE task_id = '{GOAL}'")
        assert [row["decision"] for row in decided] == self.decided
        letters = await rows("SELECT ref FROM dead_letters WHERE requeued_at IS NULL")
        assert sorted(row["ref"] for row in letters) == sorted(self.letters)
        consumed = await rows(
            "SELECT seq, agent_id FROM message_deliveries WHERE consumed_at IS NOT NULL"
        )
        assert {(row["seq"], row["agent_id"]) for row in consumed} == {
            (seq, name) for seq, sent in enumerate(self.sent, 1) for name in sent.consumed
        }
        (counts,) = await rows(
            "SELECT (SELECT COUNT(*) FROM agent_guard) AS guards, "
            "(SELECT COUNT(*) FROM access_denials) AS denied, "
            "(SELECT COUNT(*) FROM agent_messages) AS messages"
        )
        assert tuple(counts.values()) == (0, self.denied, len(self.sent))
