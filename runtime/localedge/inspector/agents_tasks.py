"""The lives of tasks: what was seen of each database while the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from localedge.inspector.agents_journal import Journal, follow
from localedge.inspector.agents_models import TaskWhole
from localedge.inspector.d1_places import Place
from localedge.inspector.stores import Stores
from localedge.inspector.timeline import timeline
from localedge.inspector.timeline_works import works
from localedge.supervisor.happenings import CLOCK_MOVED
from localedge.supervisor.history import History


class TaskLives:
    """Keeps a journal of each database that somebody has looked at."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._journals: dict[str, Journal] = {}

    def follow(self, place: Place) -> Journal:
        """From now on, what happens to the tasks of the database is noticed."""
        journal = self._journals.get(place.id)
        if journal is None:
            journal = self._journals[place.id] = Journal()
            binding = partial(self._stores.databases.binding, place)
            work = follow(journal, place.file, binding, lambda: self._stores.now_ms)
            self._stores.inspection.supervisor.accompany(work)
        return journal

    async def look(self, place: Place) -> Journal:
        """The journal of the database, up to date."""
        journal = self.follow(place)
        await journal.look(await self._stores.databases.binding(place), self._stores.now_ms)
        return journal

    async def timeline(self, place: Place, whole: TaskWhole) -> Mapping[str, Any]:
        """The life of a task, as JSON."""
        history = self._stores.inspection.history
        known = (await self.look(place)).of(whole.task.task_id)
        moved = _Moved(history, self._stores.inspection.supervisor.clock.offset_s)
        found = works(history.stories, history.endings, whole.task.task_id, moved.at_ms)
        endings = [(moved.at_ms(ending.at_ms), ending) for ending in history.endings]
        line = timeline(whole, known, found, endings, now_ms=self._stores.now_ms)
        return line.model_dump(mode="json")


class _Moved:
    """What time it was for the workers at a time of the machine, as far as that is known."""

    def __init__(self, history: History, offset_s: float) -> None:
        moves = [one for one in history.ring.after(0, 1 << 20) if one.kind == CLOCK_MOVED]
        self._moves = [(one.at_ms, float(one.facts["offset_s"]) * 1000) for one in moves]
        self._first_ms = 0.0 if self._moves else offset_s * 1000

    def at_ms(self, machine_ms: float) -> int:
        """The workers' time."""
        offset_ms = self._first_ms
        for at_ms, moved_ms in self._moves:
            if at_ms <= machine_ms:
                offset_ms = moved_ms
        return int(machine_ms + offset_ms)
