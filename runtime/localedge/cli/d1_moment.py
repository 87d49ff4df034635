"""The moments that `d1 time-travel` takes, in wrangler's forms.

Source: wrangler 4 packages/wrangler/src/d1/timeTravel/utils.ts, read 2026-12-01.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Final

from localedge.errors import Exit, OperatorError

_LONGEST_S: Final = 30 * 86400
_ISO: Final = re.compile(
    r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?([+-][0-2]\d:[0-5]\d|Z)"
)
_UNIX: Final = re.compile(r"\d{1,13}")


def moment_ms(text: str) -> int:
    """The milliseconds since the epoch that `text` says: Unix seconds, or RFC 3339 with a zone.

    Shape: 13 digits are milliseconds, as with wrangler.
    Errors: OperatorError (exit 2) for another text, the future, and more than 30 days ago.
    """
    moment = _read(text)
    now_ms = int(time.time() * 1000)
    if moment is None:
        example = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        raise _refused(
            f"Invalid timestamp '{text}'. Please provide a valid Unix timestamp or ISO string, "
            f"for example: {example}"
        )
    if moment > now_ms:
        raise _refused(f"Invalid timestamp '{text}'. Please provide a timestamp in the past")
    if moment < now_ms - _LONGEST_S * 1000:
        raise _refused(
            f"Invalid timestamp '{text}'. Please provide a timestamp within the last 30 days"
        )
    return moment


def _read(text: str) -> int | None:
    if _UNIX.fullmatch(text):
        return int(text) * (1 if len(text) > 10 else 1000)
    if not _ISO.fullmatch(text):
        return None
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None


def shown_moment(taken_ms: int) -> str:
    """Like 2026-12-24T18:00:00.000Z."""
    moment = datetime.fromtimestamp(taken_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _refused(message: str) -> OperatorError:
    return OperatorError(
        "d1/timestamp",
        message,
        "localedge d1 time-travel info DB --json lists the moments of which copies are kept.",
        exit=Exit.USAGE,
    )
