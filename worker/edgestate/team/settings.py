"""Runtime settings: versioned, kept locally for a while, never older than what the reader knows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from edgestate import clock
from edgestate.errors import StateError, StoreRejected, StoreUnavailable, VersionConflict
from edgestate.keys import check_id
from edgestate.team.desk import Desk
from edgestate.team.errors import SecretInSetting, SettingTooOld
from edgestate.team.record import D1Record, Deadlines, says
from edgestate.team.sql import settings as sql
from edgestate.team.tracing import logger_of, trace_id
from edgestate.team.writes import Write, text_of

logger = logger_of(__name__)

SYNC_S: Final = 60.0
_SECRET: Final = re.compile(
    r"(^|[_.-])(key|token|secret|password|passwd|passphrase|credentials?|authorization|bearer)$",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"^(Bearer |Basic |sk-|ghp_|xox[bp]-|AKIA)|-----BEGIN ")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; `stale` if the database could not be asked whether there is a newer one."""

    name: str
    value: JsonValue
    version: int
    stale: bool = False


class Settings:
    """The settings, with a copy that is read again after `sync_s` or when it is known to be old."""

    def __init__(self, desk: Desk, *, sync_s: float = SYNC_S) -> None:
        self._desk = desk
        self._sync_s = sync_s
        self._copy: dict[str, Setting] = {}
        self._revision = -1
        self._read_at = float("-inf")
        self._wanted = 0

    def at_least(self, revision: int) -> None:
        """Settings older than `revision` are not used from now on.

        A claimed task says how new the settings were then (`Held.settings_revision`).
        """
        self._wanted = max(self._wanted, revision)

    async def get(self, name: str, *, min_version: int = 0) -> Setting | None:
        """The setting, of at least `min_version`; None if there is none.

        Errors: SettingTooOld if there is none that new; StoreUnavailable.
        """
        is_old = self._revision < self._wanted or not (
            0 <= clock.now() - self._read_at < self._sync_s
        )
        held = self._copy.get(name)
        if is_old or (held.version if held else 0) < min_version:
            is_stale = not await self._sync()
        else:
            is_stale = False
        held = self._copy.get(name)
        found = held.version if held else None
        if (found or 0) < min_version:
            raise SettingTooOld(name, min_version, found)
        if held is None or not is_stale:
            return held
        return Setting(held.name, held.value, held.version, stale=True)

    async def _sync(self) -> bool:
        """Read all settings; False if they cannot be read and the copy is new enough to go on."""
        try:
            (rows,) = await self._desk.read(says(sql.SELECT_SETTINGS))
        except StoreUnavailable:
            if self._revision < max(self._wanted, 0):
                raise
            self._desk.record.tally["stale_reads"] += 1
            logger.warning("settings could not be read", extra={"revision": self._revision})
            return False
        self._copy = {
            row["name"]: Setting(row["name"], json.loads(row["value"]), row["version"])
            for row in rows
        }
        self._revision = max((row["revision"] for row in rows), default=0)
        self._read_at = clock.now()
        return True

    async def set(
        self, name: str, value: JsonValue, *, version: int = 0, request_id: str | None = None
    ) -> int:
        """The setting's new version; `version` is the one that it replaces, 0 for a new one.

        Only the planner may.
        Errors: SecretInSetting; VersionConflict; AccessDenied.
        """
        check_id("setting", name)
        text = text_of(value)
        check_no_secret(name, value)
        now = clock.now_ms()
        values = (name, text, version, self._desk.me, now, trace_id())
        write = Write(
            "set",
            f"setting {name}",
            [name, value, version],
            (says(sql.PUT_SETTING, *values), says(sql.GUARD_SETTING)),
            answer=says(sql.ANSWER_SETTING, name),
            roles=("planner",),
        )

        async def why(_reason: str) -> StateError:
            await self._sync()
            held = self._copy.get(name)
            return VersionConflict(write.what, version, held.version if held else None)

        answer = await self._desk.write(write, request_id=request_id, refused=why)
        self.at_least(answer["revision"])
        stored: int = answer["version"]
        return stored

    async def secret(self, name: str, env: Any) -> str:
        """The secret that the setting `name` names, from the worker's environment.

        Errors: StoreRejected if it names none, or the environment has none of that name.
        """
        setting = await self.get(name)
        named = setting.value.get("secret") if setting and isinstance(setting.value, dict) else None
        value = getattr(env, named, None) if isinstance(named, str) else None
        if not isinstance(value, str):
            raise StoreRejected(f"setting {name} names no secret that the environment has.")
        return value

    async def apply_deadlines(self, record: D1Record) -> None:
        """`record` waits as long as `read_timeout_ms` and `write_timeout_ms` say, if they do."""
        read, write = await self.get("read_timeout_ms"), await self.get("write_timeout_ms")
        record.deadlines = Deadlines(
            read_s=_seconds(read, record.deadlines.read_s),
            write_s=_seconds(write, record.deadlines.write_s),
        )


def check_no_secret(name: str, value: JsonValue) -> None:
    """Return if nothing in the setting looks like a secret, by its name or by how it begins.

    Errors: SecretInSetting.
    """
    waiting: list[tuple[str, JsonValue]] = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and set(value) == {"secret"}:
            named = value["secret"]
            if not (isinstance(named, str) and _ENV_NAME.fullmatch(named)):
                raise SecretInSetting(name)
            continue
        if _SECRET.search(_HUMP.sub("_", name)) or (
            isinstance(value, str) and _VALUE.search(value)
        ):
            raise SecretInSetting(name)
        if isinstance(value, dict):
            waiting += [(f"{name}.{key}", inner) for key, inner in value.items()]
        if isinstance(value, list):
            waiting += [(f"{name}.{number}", inner) for number, inner in enumerate(value)]


def _seconds(setting: Setting | None, otherwise_s: float) -> float:
    value = setting.value if setting else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) / 1000 if is_number and isinstance(value, int | float) else otherwise_s
