"""The document's four metrics, and what explains them, as Prometheus text.

They are aggregated from the database, so that every isolate answers the same. What an isolate has
counted and not written down yet goes along with its next write.

- message latency: from sent to consumed; it rises when the channel is blocked
- transition times: pending to running to completed
- conflict rate: conflicts / updates; it jumps when agents fight about a state
- rollback rate: rolled back transactions / all; it jumps when the logic is wrong

Source: the second seed document, 5.1, read 2026-12-01; prometheus.io/docs/instrumenting/
exposition_formats, read 2026-12-01.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from edgestate.team.record import Record, says
from edgestate.team.sql import inspecting as sql

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_MS: Final = (10, 50, 100, 500, 1000, 5000, 30000, 60000, 300000)
_COUNTERS: Final = {
    "updates": ("team_updates_total", "Updates that were tried."),
    "conflicts": ("team_conflicts_total", "Updates that another agent was quicker with."),
    "transactions": ("team_transactions_total", "Transactions that were tried."),
    "rollbacks": ("team_rollbacks_total", "Transactions that were rolled back."),
    "timeouts_read": ("team_read_timeouts_total", "Reads that took longer than they may."),
    "timeouts_write": ("team_write_timeouts_total", "Writes that took longer than they may."),
    "timeouts_cache": ("team_cache_timeouts_total", "Cache calls that took longer than they may."),
    "stale_reads": ("team_stale_reads_total", "Reads that the cache answered for the database."),
    "breaker_opened_database": (
        "team_database_breaker_opened_total",
        "How often the database was left alone for a while.",
    ),
    "breaker_opened_cache": (
        "team_cache_breaker_opened_total",
        "How often the cache was left alone for a while.",
    ),
}


async def metrics_text(record: Record) -> str:
    """All metrics of the team as they are in the database now."""
    bounds = json.dumps(BUCKETS_MS)
    rows = await record.batch(
        [
            says(sql.SELECT_COUNTERS),
            says(sql.MESSAGE_LATENCY, bounds),
            says(sql.MESSAGE_TOTALS),
            says(sql.TRANSITION_TOTALS),
            says(sql.TRANSITION_BUCKETS, bounds),
            says(sql.TASKS_BY_STATUS),
            says(sql.OPEN_LETTERS),
            says(sql.UNREAD),
        ],
        "read",
    )
    counters, latency, consumed, transitions, buckets, tasks, letters, unread = rows
    counts = {row["name"]: row["value"] for row in counters}
    lines = [
        *_latency(latency, consumed),
        *_transitions(transitions, buckets),
        *_ratio(counts, "conflict", "conflicts", "updates"),
        *_ratio(counts, "rollback", "rollbacks", "transactions"),
    ]
    for name, (metric, help_) in _COUNTERS.items():
        lines += [*_head(metric, "counter", help_), f"{metric} {counts.get(name, 0)}"]
    lines += _head("team_messages_consumed_total", "counter", "Messages that an agent acted on.")
    lines += [
        _line("team_messages_consumed_total", row["count"], agent=row["agent_id"])
        for row in consumed
    ]
    lines += _head("team_tasks", "gauge", "Tasks by status.")
    lines += [_line("team_tasks", row["count"], status=row["status"]) for row in tasks]
    lines += _head("team_dead_letters", "gauge", "What was given up and waits for a person.")
    lines += [_line("team_dead_letters", row["count"], kind=row["kind"]) for row in letters]
    lines += _head("team_messages_unread", "gauge", "Messages that wait for whom they are for.")
    lines.append(_line("team_messages_unread", unread[0]["count"]))
    return "\n".join(lines) + "\n"


def _latency(buckets: Iterable[Any], totals: Iterable[Any]) -> list[str]:
    name = "team_message_latency_seconds"
    totals = list(totals)
    count = sum(row["count"] for row in totals)
    lines = _head(name, "histogram", "From a message's sending to its consumption.")
    lines += [_line(f"{name}_bucket", row["count"], le=_seconds(row["bound"])) for row in buckets]
    lines.append(_line(f"{name}_bucket", count, le="+Inf"))
    lines.append(_line(f"{name}_sum", _seconds(sum(row["total_ms"] for row in totals))))
    return [*lines, _line(f"{name}_count", count)]


def _transitions(totals: Iterable[Any], buckets: Iterable[Any]) -> list[str]:
    name = "team_transition_seconds"
    lines = _head(name, "histogram", "How long a task was in a status before the next.")
    buckets = list(buckets)
    for row in totals:
        labels = {"from": row["source"], "to": row["target"]}
        for bucket in buckets:
            if (bucket["source"], bucket["target"]) == (row["source"], row["target"]):
                le = _seconds(bucket["bound"])
                lines.append(_line(f"{name}_bucket", bucket["count"], **labels, le=le))
        lines.append(_line(f"{name}_bucket", row["count"], **labels, le="+Inf"))
        lines.append(_line(f"{name}_sum", _seconds(row["total_ms"]), **labels))
        lines.append(_line(f"{name}_count", row["count"], **labels))
    return lines


def _ratio(counts: dict[str, int], name: str, part: str, whole: str) -> list[str]:
    metric = f"team_{name}_ratio"
    value = counts.get(part, 0) / max(counts.get(whole, 0), 1)
    return [*_head(metric, "gauge", f"{part} / {whole}"), _line(metric, f"{value:.6g}")]


def _head(name: str, kind: str, help_: str) -> list[str]:
    return [f"# HELP {name} {help_}", f"# TYPE {name} {kind}"]


def _line(name: str, value: object, **labels: object) -> str:
    if not labels:
        return f"{name} {value}"
    inner = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
    return f"{name}{{{inner}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:g}"
