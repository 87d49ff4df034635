"""What the team's database says after a run, read when no server has it any more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edgestate.team import D1Record, Deadlines, examine, history, metrics_text, rebuild, states
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.probe import Probe

# Agents whose isolates were killed have unread messages and tasks that changed hands.
EXPECTED = ("stale", "flapping")


@dataclass(frozen=True, slots=True)
class Facts:
    """The end of a run."""

    results: dict[str, int]
    is_rebuilt: bool
    dead_letters: list[str]
    torn: list[str]
    events: int
    takeovers: int
    rates: list[str]


async def facts(state: Path) -> Facts:
    """What the one database in `state` says."""
    (file,) = (state / "d1").glob("*.sqlite")
    async with open_engine(file) as engine:
        db = BindingWrapper(D1Database(engine), "DB", Probe())
        record = D1Record(db, deadlines=Deadlines(20, 20))
        changes = await history(record)
        symptoms = [s for s in await examine(record) if s.is_found and s.key not in EXPECTED]
        results = await db.prepare(
            "SELECT task_id, COUNT(*) AS n FROM task_results GROUP BY task_id ORDER BY task_id"
        ).all()
        letters = await db.prepare("SELECT ref, reason FROM dead_letters ORDER BY id").all()
        events = await db.prepare("SELECT COUNT(*) AS n FROM team_events").first("n")
        text = await metrics_text(record)
        return Facts(
            results={row["task_id"]: row["n"] for row in results["results"]},
            is_rebuilt=rebuild(changes) == await states(record),
            dead_letters=[f"{row['ref']}: {row['reason']}" for row in letters["results"]],
            torn=[symptom.title for symptom in symptoms],
            events=events,
            takeovers=sum(change.reason == "taken over" for change in changes),
            rates=[
                line for line in text.splitlines() if line.startswith("team_") and "ratio" in line
            ],
        )
