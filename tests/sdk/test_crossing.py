"""Values that cross: python_to_rpc, python_from_rpc, to_js, proxies."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.errors import JsException

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("platform")]

SAFE = st.integers(-(2**53) + 2, 2**53 - 2)
plain = st.recursive(
    st.none() | st.booleans() | SAFE | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def both_ways(value: Any) -> Any:
    from workers import python_from_rpc, python_to_rpc

    return python_from_rpc(python_to_rpc(value))


@given(plain)
def test_plain_values_survive_the_way_there_and_back(value: Any) -> None:
    assert both_ways(value) == value


def test_what_comes_back_is_a_copy() -> None:
    given_list: list[Any] = [[1]]

    returned = both_ways(given_list)
    returned[0].append(2)

    assert given_list == [[1]]


def test_keys_of_an_object_read_as_attributes_but_methods_win() -> None:
    found = both_ways({"a": 1, "keys": 2})

    assert (found.a, found["keys"]) == (1, 2)
    assert callable(found.keys)
    found.b = 3
    assert found["b"] == 3


def test_sets_bytes_and_integral_floats_cross() -> None:
    found = both_ways({"s": {1, 2}, "b": b"x", "f": 2.0, "v": memoryview(b"y")})

    assert (found["s"], bytes(found["b"]), bytes(found["v"])) == ({1, 2}, b"x", b"y")
    assert type(found["f"]) is int


def test_a_date_crosses_in_milliseconds() -> None:
    moment = dt.datetime(2026, 12, 1, 12, 30, 15, 123456, tzinfo=dt.UTC)

    assert both_ways(moment) == dt.datetime(2026, 12, 1, 12, 30, 15, 123000)


def test_a_function_crosses_as_itself() -> None:
    assert both_ways([len])[0] is len


@pytest.mark.parametrize(
    "value", [(1,), bytearray(b"x"), re.compile("x"), {"a": (1,)}, [[bytearray()]]]
)
def test_what_cannot_cross_is_a_type_error(value: Any) -> None:
    from workers import python_to_rpc

    with pytest.raises(TypeError, match=r"cannot be sent over RPC\."):
        python_to_rpc(value)


async def test_objects_of_the_sdk_cross_as_themselves() -> None:
    import workers

    values = {
        "request": workers.Request("https://a.test/"),
        "response": workers.Response("x"),
        "form": workers.FormData({"a": "1"}),
        "file": workers.File("x", "n.txt"),
        "blob": workers.Blob("y"),
    }

    found = both_ways(values)

    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in values.items()
    }
    assert (found["file"].name, await found["blob"].text()) == ("n.txt", "y")


def test_none_crosses_as_null() -> None:
    from pyodide.ffi import jsnull
    from workers import python_to_rpc

    assert python_to_rpc(None) is jsnull
    assert python_to_rpc({"a": None}).a is jsnull


def test_null_is_false_and_not_none() -> None:
    from pyodide.ffi import jsnull

    assert not jsnull
    assert jsnull is not None
    assert repr(jsnull) == "jsnull"


def test_what_is_none_of_the_platforms_comes_back_unchanged() -> None:
    from workers import python_from_rpc

    given_list = [1]

    assert python_from_rpc(given_list) is given_list


def test_to_js_makes_objects_of_dicts_and_arrays_of_lists_and_tuples() -> None:
    from pyodide.ffi import to_js

    made = to_js({"a": [1, (2, 3)], "b": {"c": b"x"}})

    assert made.a[1][0] == 2
    assert made.b.c.to_bytes() == b"x"
    assert made.object_keys().to_py() == ["a", "b"]


def test_to_js_uses_the_given_converter_for_dicts() -> None:
    from js import Object
    from pyodide.ffi import to_js

    made = to_js({"a": {"b": 1}}, dict_converter=Object.fromEntries)

    assert made.a.b == 1


def test_to_js_asks_the_default_converter_for_the_rest() -> None:
    from pyodide.ffi import to_js

    made = to_js([1j], default_converter=lambda value, convert, cache: str(value))

    assert made[0] == "1j"


def test_to_js_without_proxies_refuses_python_objects() -> None:
    from pyodide.ffi import ConversionError, to_js

    with pytest.raises(ConversionError):
        to_js([object()], create_pyproxies=False)


def test_to_js_gives_scalars_and_platform_objects_back() -> None:
    from js import Object
    from pyodide.ffi import to_js

    held = Object.new()

    assert (to_js("x"), to_js(2.0), to_js(None)) == ("x", 2.0, None)
    assert to_js(held) is held


def test_an_object_can_be_read_written_and_emptied_by_attributes() -> None:
    from js import Object

    held = Object.new()
    held.name = "x"
    held.from_ = 1

    assert (held.name, held.from_, held.object_keys().to_py()) == ("x", 1, ["name", "from"])
    del held.name
    assert not hasattr(held, "name")


def test_a_missing_member_is_an_attribute_error() -> None:
    from js import Object

    with pytest.raises(AttributeError):
        Object.new().nope  # noqa: B018


def test_an_array_behaves_like_a_list_and_like_an_array() -> None:
    from pyodide.ffi import to_js

    held = to_js([3, 1, 2])

    assert (len(held), held.length, held[0], list(held), 2 in held) == (3, 3, 3, [3, 1, 2], True)
    assert held.map(lambda x, *_: x * 2).to_py() == [6, 2, 4]
    assert held.filter(lambda x, at, whole: x > at).to_py() == [3]
    assert (held.join("-"), held.indexOf(1), held.includes(9)) == ("3-1-2", 1, False)
    assert held.slice(1).to_py() == [1, 2]


def test_proxies_of_one_object_are_equal() -> None:
    from pyodide.ffi import JsProxy, to_js

    held: Any = to_js([[1]])

    assert held[0] == held[0]
    assert held[0] != to_js([1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(held)
    assert isinstance(held, JsProxy)


def test_a_proxy_of_a_python_object_passes_through() -> None:
    from js import Object
    from pyodide.ffi import create_proxy

    thing = {"a": 1}
    held = Object.new()

    held.thing = create_proxy(thing)

    assert held.thing is thing
    assert create_proxy(thing).unwrap() is thing


def test_a_once_callable_is_called_once() -> None:
    from pyodide.ffi import create_once_callable

    once = create_once_callable(lambda x: x + 1)

    assert once(1) == 2
    with pytest.raises(JsException):
        once(1)


def test_an_error_of_the_platform_has_its_parts() -> None:
    import js
    from pyodide.ffi import JsException as Theirs

    with pytest.raises(Theirs) as raised:
        js.URL.new("nope")

    assert raised.value.name == "TypeError"
    assert str(raised.value) == f"TypeError: {raised.value.message}"
    assert str(raised.value) in raised.value.stack


def test_names_of_rpc_that_tests_use_are_there() -> None:
    from workers.rpc import _BindingWrapper, _EnvWrapper

    assert (_BindingWrapper.__name__, _EnvWrapper.__name__) == ("_BindingWrapper", "_EnvWrapper")


def test_relaxed_call_leaves_out_what_is_not_taken() -> None:
    from pyodide.code import relaxed_call, relaxed_wrap

    def two(a: int, b: int = 5) -> list[int]:
        return [a, b]

    assert relaxed_call(two, 1, 2, 3, c=4) == [1, 2]
    assert relaxed_wrap(two)(1, b=7, x=0) == [1, 7]


def test_code_made_of_text_is_refused() -> None:
    from pyodide.code import run_js

    with pytest.raises(JsException, match="Code generation from strings"):
        run_js("1")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("x = 2\nx * y", 6),
        ("x = 2", None),
        ("1 + 1;", None),
        ("", None),
        ("def f():\n    return 5\nf()", 5),
    ],
)
def test_code_made_of_python_gives_its_last_value(source: str, value: object) -> None:
    from pyodide.code import eval_code

    assert eval_code(source, {"y": 3}) == value


async def test_code_may_wait_at_its_top() -> None:
    from pyodide.code import eval_code, eval_code_async

    source = "import asyncio\nawait asyncio.sleep(0, 1)\nawait asyncio.sleep(0, 2)"

    assert await eval_code_async(source) == 2
    assert await eval_code_async("x = 3\nx") == 3
    with pytest.raises(SyntaxError):
        eval_code(source)


def test_the_imports_of_a_text_are_found() -> None:
    from pyodide.code import find_imports

    found = find_imports("import a.b, c\nfrom d.e import f\nfrom . import g")

    assert found == ["a", "a.b", "c", "d", "d.e"]
    assert find_imports("import (") == []


def test_a_callback_gets_every_argument_as_on_pyodide() -> None:
    from js import Array, Headers

    with pytest.raises(TypeError, match="takes 1 positional argument but 3 were given"):
        Array.new(1, 2).map(lambda x: x)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        Headers.new({"a": "1"}.items()).forEach(lambda value, name: None)


def test_every_name_of_pyodide_ffi_can_be_imported() -> None:
    names: dict[str, Any] = {}

    exec("from pyodide.ffi import *", names)

    # Of Pyodide 314.0.7's own list.
    assert {"JsGenerator", "JsMutableMap", "IN_PYODIDE", "ToJsConverter", "jsnull"} <= names.keys()


def test_an_object_can_be_a_module() -> None:
    from importlib import import_module

    from js import Object
    from pyodide.ffi import register_js_module, to_js, unregister_js_module

    register_js_module("of_js", to_js({"a": [1]}, dict_converter=Object.fromEntries))

    assert import_module("of_js").a.to_py() == [1]
    unregister_js_module("of_js")
    with pytest.raises(ValueError, match="of_js"):
        unregister_js_module("of_js")
