"""An agent's seat in the team: everything that it can do, through one desk."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from edgestate.bindings import KVBinding
from edgestate.team.board import Board
from edgestate.team.board_rows import LANES
from edgestate.team.cache import Cache, Versioned
from edgestate.team.contexts import Contexts
from edgestate.team.dead_letters import DeadLetters
from edgestate.team.desk import Desk
from edgestate.team.knowledge import Fact, long_term, short_term
from edgestate.team.messages import Decisions, Messages
from edgestate.team.planning import Planning
from edgestate.team.record import Record
from edgestate.team.requests import Requests
from edgestate.team.reviews import Reviews
from edgestate.team.roster import Roster
from edgestate.team.settings import Settings
from edgestate.team.snapshots import Snapshots
from edgestate.team.writes import Identity


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What an agent knows when it begins.

    Shape: `knowledge` is what it may see of the project's; `cursor` is where its messages begin.
    """

    knowledge: tuple[Fact, ...]
    cursor: int = 0


class TeamMember:
    """One life of an agent, with its view of everything.

    Shape: `lane` is the claim lane that it looks at first; `kv` an optional cache.
    """

    def __init__(
        self,
        record: Record,
        identity: Identity,
        *,
        kv: KVBinding | None = None,
        lane: int = 0,
        lane_count: int = LANES,
    ) -> None:
        self.desk = Desk(record, identity)
        self.cache = Cache(kv, record.tally)
        self.roster = Roster(self.desk)
        self.messages = Messages(self.desk)
        self.decisions = Decisions(self.desk)
        self.contexts = Contexts(self.desk, lane_count=lane_count)
        self.knowledge = long_term(self.desk, self.cache)
        self.memory = short_term(self.desk, self.cache)
        self.board = Board(self.desk, lane=lane, lane_count=lane_count)
        self.planning = Planning(self.desk, lane_count=lane_count)
        self.reviews = Reviews(self.desk)
        self.settings = Settings(self.desk)
        self.snapshots = Snapshots(self.desk)
        self.requests = Requests(self.desk)
        self.dead_letters = DeadLetters(self.desk)

    @property
    def id(self) -> str:
        """The agent's id."""
        return self.desk.me

    async def bootstrap(self, agent: str) -> Bootstrap:
        """What `agent` has to know before it begins.

        Errors: AccessDenied if that is not who the server says it is.
        """
        await self.desk.must_be_me(agent, "bootstrap")
        return Bootstrap(tuple(await self.knowledge.all()))

    async def task_view(self, task_id: str, *, min_version: int | None = None) -> Versioned | None:
        """A task's status to look at, perhaps from the cache: nothing is decided on it.

        Errors: TaskNotFound; StoreUnavailable if nothing is cached either.
        """

        async def load() -> Versioned:
            task = await self.board.task(task_id)
            view: JsonValue = {
                "task_id": task.task_id,
                "status": task.status,
                "review": task.review,
                "attempt": task.attempt,
            }
            return Versioned(view, task.version)

        await self.desk.must_be_enrolled()
        return await self.cache.read("task", task_id, load, min_version=min_version)
