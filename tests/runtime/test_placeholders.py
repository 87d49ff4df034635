"""Bindings that the platform has and localedge does not run."""

from __future__ import annotations

from typing import Any

import pytest

from localedge.binding import EnvWrapper
from localedge.errors import JsException
from localedge.isolate.environment import placeholder
from localedge.probe import Probe


@pytest.fixture
def bucket() -> Any:
    return EnvWrapper({"FILES": placeholder("FILES", "R2Bucket")}, Probe()).FILES


def test_a_placeholder_shows_the_platforms_class(bucket: Any) -> None:
    assert str(bucket) == "[object R2Bucket]"
    assert bucket.constructor.name == "R2Bucket"
    assert bool(bucket)


def test_a_placeholder_says_at_its_first_use_that_nothing_runs_it(bucket: Any) -> None:
    with pytest.raises(JsException) as caught:
        bucket.put("key", "value")

    assert caught.value.message == (
        'env.FILES is a R2Bucket, which localedge does not run; "put" works on the platform only.'
    )
