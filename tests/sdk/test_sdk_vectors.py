"""Every recorded answer of the SDK, replayed on real bindings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.replay import Raised, differences, load, mismatch
from tests.sdk.conftest import Bench

from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect

pytestmark = pytest.mark.anyio
CASES = load("sdk")
MEANT = differences("sdk")


@pytest.fixture
async def env(bench: Bench, valkey_url: str, tmp_path: Path) -> AsyncIterator[Any]:
    async with connect(valkey_url) as connection, open_engine(tmp_path / "db.sqlite") as engine:
        bindings = {"KV": KvNamespace(connection.store("sdk")), "DB": D1Database(engine)}
        plain = {"TEXT": "t", "NUM": 5, "FLAG": True, "OBJ": {"a": 1}}
        yield bench.use({**bindings, **plain})


async def answer(code: list[str], env: Any, workers: ModuleType) -> Any:
    """What `out` is after the lines of `code` ran in a coroutine, or what they raised."""
    lines = "\n".join(code).replace("\n", "\n    ")
    program = (
        f"async def case(env, Request, Response):\n    out = None\n    {lines}\n    return out"
    )
    scope: dict[str, Any] = {}
    exec(program, scope)
    try:
        return await scope["case"](env, workers.Request, workers.Response)
    except Exception as error:  # noqa: BLE001  (whatever comes out is the answer)
        return Raised(error)


# The case `rpc-awaitable` itself leaves a coroutine that nobody awaits.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in CASES if name not in MEANT])
async def test_the_sdk_answers_as_recorded(name: str, env: Any) -> None:
    import workers

    case = CASES[name]
    found = await answer(case["code"], env, workers)

    assert mismatch(case, found) is None
