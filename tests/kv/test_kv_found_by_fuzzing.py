"""What the differential fuzzer found in KV (docs/fuzzing.md), each once."""

from __future__ import annotations

from typing import Any

import pytest

from localedge.errors import JsException

pytestmark = pytest.mark.anyio
NO_JSON = (
    "KV GET_BULK failed: 400 At least one of the requested keys corresponds to a non-json value"
)
NO_NAME = "KV GET_BULK failed: 400 Key names must not be empty"


@pytest.mark.parametrize(
    ("names", "text"),
    [(["a", ""], NO_JSON), (["", "a"], NO_NAME), (["b", ""], NO_NAME), (["b", "a", ""], NO_JSON)],
)
async def test_a_bulk_read_stops_at_the_first_key_that_fails(
    kv: Any, names: list[str], text: str
) -> None:
    await kv.put("a", "no JSON")
    await kv.put("b", "1")

    with pytest.raises(JsException) as caught:
        await kv.get(names, "json")

    assert caught.value.message == text
