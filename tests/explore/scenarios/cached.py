"""The cache of `edgestate.team`: what was read once is never older later."""

from __future__ import annotations

from typing import Any

from edgestate.team import Cache, Tally, Versioned
from localedge.explore import Client, Outcome, Scenario, Setting

ROW = "SELECT version, value FROM rows"


async def table(env: Any, _outside: Any) -> None:
    await env.DB.prepare("CREATE TABLE rows (version INTEGER, value TEXT)").run()
    await env.DB.prepare("INSERT INTO rows VALUES (1, 'old')").run()


def cache_of(env: Any) -> tuple[Cache, Any]:
    async def load() -> Versioned:
        row = await env.DB.prepare(ROW).first()
        return Versioned(row["value"], int(row["version"]))

    return Cache(env.KV, Tally()), load


async def fill(env: Any) -> int:
    """A reader that finds nothing cached reads the row and caches it."""
    cache, load = cache_of(env)
    found = await cache.read("row", "1", load)
    return found.version if found else 0


async def change(env: Any) -> int:
    """A writer changes the row and refreshes the cache."""
    await env.DB.prepare("UPDATE rows SET version = 2, value = 'new'").run()
    cache, load = cache_of(env)
    found = await cache.read("row", "1", load)
    return found.version if found else 0


async def newest(env: Any) -> int:
    cache, _ = cache_of(env)
    found = await cache.newest("row", "1")
    return found.version if found else 0


async def refill(client: Client) -> None:
    await client.at_once(client.call(fill), client.call(change))
    version = await client.run(newest)
    if version < 2:
        client.broken(Outcome.DIVERGED, f"the change to 2 was refreshed, and {version} is cached")


cached = Scenario(refill, setting=Setting(kv=("KV",), d1=("DB",)), setup=table, name="cache refill")
