"""What `pyodide.ffi` is like follows the edge's Python, which compatibility dates decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from localedge.binding import EnvWrapper
from localedge.jsproxy import JSNULL, show_null_as
from localedge.kv.memory import MemoryStore
from localedge.kv.namespace import KvNamespace
from localedge.probe import Probe
from localedge.sdk.host import Host, set_host
from localedge.values import BigInt

On = Callable[[int], None]


@pytest.fixture
def on(platform: None) -> Iterator[On]:
    """`on(13)`: the edge runs Python 3.13."""

    def use(minor: int) -> None:
        set_host(Host(python=(3, minor)))
        show_null_as(None if minor < 13 else JSNULL)

    yield use
    set_host(None)
    show_null_as(JSNULL)


@pytest.mark.parametrize(("minor", "kind"), [(12, "Map"), (13, "Map"), (14, "Object")])
def test_a_dict_becomes_a_map_before_3_14(minor: int, kind: str, on: On) -> None:
    from pyodide.ffi import to_js

    on(minor)

    assert to_js({"a": 1}).constructor.name == kind
    assert to_js({"a": 1}).to_py() == {"a": 1}


def test_a_converter_makes_an_object_everywhere(on: On) -> None:
    from js import Object
    from pyodide.ffi import to_js

    on(13)

    assert to_js({"a": 1}, dict_converter=Object.fromEntries).a == 1


def test_jsnull_came_with_3_13(on: On) -> None:
    import js

    on(12)
    with pytest.raises(ImportError, match="cannot import name 'jsnull'"):
        from pyodide.ffi import jsnull
    then = js.JSON.parse("null")
    on(13)
    from pyodide.ffi import jsnull

    assert then is None
    assert js.JSON.parse("null") is jsnull


def test_bigint_has_a_type_of_its_own_since_3_14(on: On) -> None:
    on(13)
    with pytest.raises(ImportError, match="cannot import name 'JsBigInt'"):
        from pyodide.ffi import JsBigInt
    on(14)
    from pyodide.ffi import JsBigInt, to_js

    assert type(to_js([JsBigInt(5)])._js[0]) is BigInt


async def _nothing() -> None: ...


def test_run_sync_fails_on_3_12(on: On) -> None:
    from pyodide import ffi

    on(12)
    waiting = _nothing()

    with pytest.raises(RuntimeError, match=r"the edge's Python 3\.12 cannot"):
        ffi.run_sync(waiting)
    assert not ffi.can_run_sync()
    asyncio.run(waiting)


@pytest.mark.anyio
async def test_a_map_is_no_options_object(on: On) -> None:
    from pyodide.ffi import to_js

    on(13)
    kv = EnvWrapper({"KV": KvNamespace(MemoryStore())}, Probe()).KV
    await kv.put("lost", "v", to_js({"metadata": {"a": 1}}))
    on(14)
    await kv.put("kept", "v", to_js({"metadata": {"a": 1}}))

    assert (await kv.getWithMetadata("lost")).metadata is None
    assert (await kv.getWithMetadata("kept")).metadata == {"a": 1}
