"""Compatibility dates and flags: what the runtime accepts, and what they mean for Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from localedge import clock

# The newest date that the recorded runtime (workerd 2026-11-17) knows.
NEWEST_DATE = "2026-11-17"

_RUNTIME_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
_ISO = re.compile(
    r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?"
    r"(T([01]\d|2[0-4]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_LOOSE = re.compile(
    r"(?P<a>\d{1,6})\s*[-/ .,]\s*(?P<b>\d{1,2}|[a-z]{3,})\s*[-/ .,]\s*(?P<c>\d{1,6})(?P<time>.*)",
    re.ASCII | re.IGNORECASE,
)
_MONTH_FIRST = re.compile(r"([a-z]{3,})\.?\s+(\d{1,2}),?\s+(\d{1,6})(?P<time>.*)", re.IGNORECASE)
_TIME = re.compile(r"(?:[ T]+\d{1,2}:\d{2}(:\d{2})?( ?[ap]m)?)?( ?(Z|GMT|UTC|[+-]\d{4}))?", re.I)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def is_js_date(text: str) -> bool:
    """Whether `new Date(text)` of V8 is a date: ISO 8601, or one of the usual other forms.

    Source: ECMA-262 Date Time String Format, read 2026-12-01; recorded cases
    `compatibility_date_*` for the other forms.
    """
    text = text.strip()
    if _ISO.fullmatch(text):
        return True
    if match := _LOOSE.fullmatch(text):
        first, second, third = match["a"], match["b"], match["c"]
        is_time = _TIME.fullmatch(match["time"]) is not None
        if not second.isdigit():
            return is_time and second[:3].lower() in _MONTHS
        month, day = (second, third) if len(first) > 2 else (first, second)
        return is_time and 1 <= int(month) <= 12 and 1 <= int(day) <= 31
    if match := _MONTH_FIRST.fullmatch(text):
        is_time = _TIME.fullmatch(match["time"]) is not None
        return is_time and match[1][:3].lower() in _MONTHS and 1 <= int(match[2]) <= 31
    return False


def default_date() -> str:
    """The date that counts when a project has none: the runtime's, but never one to come."""
    return min(NEWEST_DATE, today())


def today() -> str:
    """The current date in UTC."""
    return datetime.fromtimestamp(clock.now(), UTC).date().isoformat()


def refusals(date: str, flags: tuple[str, ...]) -> list[str]:
    """What the runtime says against a worker with this date and these flags; empty when nothing.

    Source: recorded cases `compatibility_date_*` and `compatibility_flags_*`; miniflare's check of
    future dates in packages/miniflare/src/index.ts, read 2026-12-01.
    """
    # The first check compares texts, so 2026/10/01 is "in the future" too: "/" comes after "-".
    if date > today():
        return [f'Compatibility date "{date}" is in the future and unsupported']
    said = [] if _RUNTIME_DATE.fullmatch(date) else [f"Invalid compatibility date: {date}"]
    repeated = dict.fromkeys(flag for flag in flags if flags.count(flag) > 1)
    said += [f"Compatibility flag specified multiple times: {flag}" for flag in repeated]
    said += [
        f"No such compatibility flag: {flag}" for flag in dict.fromkeys(flags) if _is_odd(flag)
    ]
    named = {_RENAMED.get(flag, flag) for flag in flags}
    return said + [
        f"Compatibility flags are mutually contradictory: {known.flag} vs {_opposite(known.flag)}"
        for known in PYTHON_FLAGS
        if {known.flag, _opposite(known.flag)} <= named
    ]


# Differs: the runtime refuses every flag that it does not know; here one is refused only when no
# flag can be called so, or when it is a slip in the name of a flag for Python.
def _is_odd(flag: str) -> bool:
    if not re.fullmatch(r"[a-z0-9_]+", flag):
        return True
    return nearest_flag(flag) not in (flag, None)


def nearest_flag(flag: str) -> str | None:
    """The flag for Python that `flag` is, or is a slip of; None for one that has another name."""
    known = {"python_workers", *_RENAMED, *(known.flag for known in PYTHON_FLAGS)}
    known |= {_opposite(flag) for flag in known}
    found = [flag] if flag in known else get_close_matches(flag, known, n=1, cutoff=0.95)
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class PythonRelease:
    """The Python that a worker meets on the edge; `pydantic` where we know the version there."""

    python: str
    pyodide: str
    pydantic: str | None = None


@dataclass(frozen=True, slots=True)
class FlagDefault:
    """A flag that changes Python, and the date from which it is set by itself."""

    flag: str
    default_from: str
    effect: str


# Source: python-workers reference 1.7 (compatibility-date.capnp; workers-py), read 2026-12-01.
PYTHON_FLAGS = (
    FlagDefault(
        "python_workers_force_new_vendor_path", "2025-08-11", "packages lie in python_modules/"
    ),
    FlagDefault("python_no_global_handlers", "2025-08-14", "module functions on_fetch … are off"),
    FlagDefault("python_workflows", "2025-09-20", "Workflows class"),
    FlagDefault("python_workers_20250116", "2025-09-29", "Python 3.13, Pyodide 0.28"),
    FlagDefault("python_dedicated_snapshot", "2025-10-16", "snapshot taken after user imports"),
    FlagDefault("python_check_rng_state", "2025-12-16", "random at the top level is detected"),
    FlagDefault(
        "python_request_headers_preserve_commas", "2026-02-17", "duplicate headers stay joined"
    ),
    FlagDefault("python_workflows_implicit_dependencies", "2026-02-25", "Workflows step order"),
    FlagDefault("enable_python_external_sdk", "2026-04-21", "the SDK comes with the bundle"),
    FlagDefault("python_process_pth_files", "2026-05-26", ".pth files are executed"),
    FlagDefault("python_workers_314", "2026-09-08", "Python 3.14.2, Pyodide 314.0"),
)
_RENAMED = {"python_workers_20260610": "python_workers_314"}
_OPPOSITES = {
    "python_no_global_handlers": "disable_python_no_global_handlers",
    "enable_python_external_sdk": "disable_python_external_sdk",
}


def python_flags(date: str, flags: tuple[str, ...]) -> frozenset[str]:
    """The flags of `PYTHON_FLAGS` that are set for a worker with this date and these flags."""
    named = {_RENAMED.get(flag, flag) for flag in flags}
    return frozenset(
        known.flag
        for known in PYTHON_FLAGS
        if known.flag in named
        or (date >= known.default_from and _opposite(known.flag) not in named)
    )


def _opposite(flag: str) -> str:
    return _OPPOSITES.get(flag, f"no_{flag}")


def python_release(date: str, flags: tuple[str, ...]) -> PythonRelease:
    """The Python of a worker with this date and these flags."""
    active = python_flags(date, flags)
    if "python_workers_314" in active:
        return PythonRelease("3.14.2", "314.0", "2.12.5")
    if "python_workers_20250116" in active:
        return PythonRelease("3.13", "0.28", "2.10.6")
    return PythonRelease("3.12", "0.26")
