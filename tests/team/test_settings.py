"""Settings: versioned, cached for a while, never older than what the reader knows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pydantic import JsonValue
from tests.conftest import Freeze
from tests.team.world import SlowDatabase, Team, claimed

from edgestate.errors import StoreUnavailable, VersionConflict
from edgestate.team import AccessDenied, SecretInSetting, SettingTooOld

pytestmark = pytest.mark.anyio


async def test_a_setting_has_a_new_version_each_time(team: Team) -> None:
    planner = await team.planner()

    assert await planner.settings.set("model", "small") == 1
    assert await planner.settings.set("model", "large", version=1) == 2

    setting = await planner.settings.get("model")
    assert setting is not None
    assert (setting.value, setting.version) == ("large", 2)


@pytest.mark.parametrize("version", [0, 2, 7])
async def test_a_setting_is_replaced_by_who_knows_its_version(team: Team, version: int) -> None:
    planner = await team.planner()
    await planner.settings.set("model", "small")

    with pytest.raises(VersionConflict) as conflict:
        await planner.settings.set("model", "large", version=version)

    assert conflict.value.actual == 1


async def test_only_the_planner_changes_settings(team: Team) -> None:
    worker = await team.worker()

    with pytest.raises(AccessDenied):
        await worker.settings.set("model", "mine")


async def test_a_copy_is_used_for_a_minute(team: Team, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    planner, worker = await team.planner(), await team.worker()
    await planner.settings.set("model", "small")
    await worker.settings.get("model")
    await planner.settings.set("model", "large", version=1)

    clock.tick(59)
    within = await worker.settings.get("model")
    clock.tick(2)
    after = await worker.settings.get("model")

    assert within is not None
    assert after is not None
    assert (within.version, after.version) == (1, 2)


async def test_a_reader_that_needs_a_newer_version_reads_again(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.settings.set("model", "small")
    await worker.settings.get("model")
    await planner.settings.set("model", "large", version=1)

    setting = await worker.settings.get("model", min_version=2)
    with pytest.raises(SettingTooOld):
        await worker.settings.get("model", min_version=3)

    assert setting is not None
    assert setting.value == "large"


async def test_a_claim_says_how_new_the_settings_are(team: Team) -> None:
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    await planner.settings.set("model", "small")
    await worker.settings.get("model")
    await planner.settings.set("model", "large", version=1)

    held = await claimed(worker)
    worker.settings.at_least(held.settings_revision)
    setting = await worker.settings.get("model")

    assert setting is not None
    assert setting.value == "large"


async def test_without_the_database_a_copy_is_marked_stale_unless_it_is_known_to_be_old(
    cached_team: tuple[Team, SlowDatabase], frozen: Freeze
) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    team, database = cached_team
    planner = await team.planner()
    await planner.settings.set("model", "small")
    await planner.settings.get("model")

    database.is_down = True
    clock.tick(61)
    stale = await planner.settings.get("model")
    planner.settings.at_least(99)

    assert stale is not None
    assert (stale.stale, stale.version) == (True, 1)
    with pytest.raises(StoreUnavailable):
        await planner.settings.get("model")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_key", "sk-123"),
        ("model.token", "abc"),
        ("password", "abc"),
        ("model", {"name": "small", "key": "sk-123"}),
    ],
)
async def test_a_secret_is_no_setting(team: Team, name: str, value: JsonValue) -> None:
    planner = await team.planner()

    with pytest.raises(SecretInSetting):
        await planner.settings.set(name, value)

    assert await team.rows("SELECT * FROM team_settings") == []


async def test_a_setting_names_a_secret_that_the_environment_has(team: Team) -> None:
    planner = await team.planner()
    await planner.settings.set("model.key", {"secret": "MODEL_KEY"})

    secret = await planner.settings.secret("model.key", SimpleNamespace(MODEL_KEY="sk-123"))

    assert secret == "sk-123"
    assert "sk-123" not in str(await team.rows("SELECT * FROM team_settings"))


async def test_deadlines_come_from_the_settings(team: Team) -> None:
    planner = await team.planner()
    await planner.settings.set("read_timeout_ms", 700)

    await planner.settings.apply_deadlines(team.record)

    assert (team.record.deadlines.read_s, team.record.deadlines.write_s) == (0.7, 20)
