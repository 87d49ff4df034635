"""Names of the platform's SDK that we keep elsewhere, or not at all."""

from __future__ import annotations

from importlib import import_module

import pytest

from localedge.sdk.upstream import ABSENT, ELSEWHERE

pytestmark = pytest.mark.usefixtures("platform")


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in ABSENT.items() for name in sorted(names)],
)
def test_a_name_that_is_not_here_says_that_the_platform_has_it(module: str, name: str) -> None:
    with pytest.raises(ImportError, match=f"{module}.{name} exists on the platform, not in local"):
        exec(f"from {module} import {name}")


@pytest.mark.parametrize(
    ("module", "name", "home"),
    [(module, name, home) for module, names in ELSEWHERE.items() for name, home in names.items()],
)
def test_a_name_that_is_elsewhere_here_is_the_same_thing(module: str, name: str, home: str) -> None:
    found = getattr(import_module(module), name)

    assert found is getattr(import_module(home), name)


def test_a_name_that_the_platform_does_not_have_either_is_an_ordinary_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from workers.utils import nonsense")
    with pytest.raises(AttributeError, match=r"'workers\.utils' has no attribute 'nonsense'"):
        _ = import_module("workers.utils").nonsense
