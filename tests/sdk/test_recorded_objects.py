"""Objects of the platform are to Python what Pyodide and Cloudflare's SDK were recorded to show."""

from __future__ import annotations

import pytest
from tests.sdk import objects
from tests.sdk.conftest import Client, LoadWorker

pytestmark = pytest.mark.anyio


async def test_objects_are_shown_as_recorded(load: LoadWorker, client: Client) -> None:
    worker = load(objects.WORKER)

    shown = {
        source: (await client.send(worker, method="POST", body=source.encode())).text
        for source in objects.sources()
    }

    recorded = objects.recorded()
    wrong = {
        source: (recorded[source], ours)
        for source, ours in shown.items()
        if recorded[source] != ours
    }
    assert wrong == {}
