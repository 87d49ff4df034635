"""`js`: the platform's global scope as public workers use it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from tests.waiting import wait_until

from localedge.errors import JsException

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("platform")]


async def test_the_forms_of_public_workers_work_together() -> None:
    from js import JSON, Headers, Object, Response
    from pyodide.ffi import to_js

    headers = Headers.new({"content-type": "application/json"}.items())
    body = JSON.stringify(to_js({"a": [1, None, "ü"]}, dict_converter=Object.fromEntries))
    response = Response.new(body, headers=headers, status=201)

    assert (response.status, response.ok, response.headers.get("Content-Type")) == (
        201,
        True,
        "application/json",
    )
    assert await response.text() == '{"a":[1,null,"ü"]}'


async def test_a_response_takes_a_whole_options_object() -> None:
    from js import Response
    from pyodide.ffi import to_js

    response = Response.new("x", to_js({"status": 202, "headers": {"X-A": "1"}}))

    assert (response.status, response.headers.get("x-a")) == (202, "1")


async def test_a_request_reads_its_body_as_json_array_buffer_and_form() -> None:
    from js import Request

    def made() -> Any:
        return Request.new("https://a.test/", method="POST", body='{"a":{"b":1}}')

    assert (await made().json()).a.b == 1
    assert (await made().arrayBuffer()).to_bytes() == b'{"a":{"b":1}}'
    assert made().method == "POST"
    with pytest.raises(JsException, match="Unrecognized Content-Type"):
        await made().formData()


async def test_reading_twice_is_the_platforms_type_error() -> None:
    from js import Response

    response = Response.new("x")
    await response.text()

    with pytest.raises(JsException, match="Body has already been used") as raised:
        await response.text()
    assert raised.value.name == "TypeError"
    assert response.bodyUsed


def test_headers_have_all_their_methods() -> None:
    from js import Headers

    headers = Headers.new([["b", "1"], ["A", "2"], ["set-cookie", "x"], ["set-cookie", "y"]])
    headers.append("b", "3")
    headers.set("a", "4")
    seen: list[Any] = []
    headers.forEach(lambda value, name, _headers: seen.append((name, value)))

    assert headers.get("b") == "1, 3"
    assert (headers.has("A"), headers.getSetCookie().to_py()) == (True, ["x", "y"])
    assert seen == [("a", "4"), ("b", "1, 3"), ("set-cookie", "x"), ("set-cookie", "y")]
    assert next(pair.to_py() for pair in headers) == ["a", "4"]
    headers.delete("a")
    assert list(headers.keys()) == ["b", "set-cookie", "set-cookie"]


def test_headers_of_something_else_are_refused() -> None:
    from js import Headers

    with pytest.raises(JsException, match="pairs"):
        Headers.new(5)


def test_a_url_and_its_parameters_change_each_other() -> None:
    from js import URL

    url = URL.new("/p?a=1#h", "https://user@a.test:8443/base")

    url.searchParams.append("b", "ü &")
    url.pathname = "/q r"
    url.hash = ""

    assert url.href == "https://user@a.test:8443/q%20r?a=1&b=%C3%BC+%26"
    url.search = "?c=3"
    assert (url.searchParams.get("c"), url.searchParams.has("a")) == ("3", False)
    assert (url.origin, url.host, url.port, url.username) == (
        "https://a.test:8443",
        "a.test:8443",
        "8443",
        "user",
    )
    assert str(url.toString()) == url.href


def test_a_bad_url_is_a_type_error_of_the_platform() -> None:
    from js import URL

    assert URL.canParse("https://a.test")
    assert not URL.canParse("nope")
    with pytest.raises(JsException, match="Invalid URL"):
        URL.new("nope")


@pytest.mark.parametrize(
    ("init", "text"),
    [("?a=1&a=2", "a=1&a=2"), ("a=%20b+c", "a=+b+c"), ("", ""), ("x", "x="), ("~*", "%7E*=")],
)
def test_search_parameters_are_read_and_written(init: str, text: str) -> None:
    from js import URLSearchParams

    assert URLSearchParams.new(init).toString() == text


def test_search_parameters_have_all_their_methods() -> None:
    from js import URLSearchParams
    from pyodide.ffi import to_js

    params = URLSearchParams.new(to_js({"b": "1", "a": "2"}))
    params.append("b", "3")

    assert (params.getAll("b").to_py(), params.get("nope")) == (["1", "3"], _null())
    params.sort()
    params.set("b", "9")
    assert (params.toString(), params.size) == ("a=2&b=9", 2)
    params.delete("a")
    assert (list(params), dict(params), len(params)) == (["b"], {"b": "9"}, 1)


def _null() -> Any:
    from pyodide.ffi import jsnull

    return jsnull


def test_json_is_parsed_into_objects_of_the_platform() -> None:
    from js import JSON

    parsed = JSON.parse('{"a": [1, 2.5, 1.0, null, true]}')

    assert parsed.a.to_py() == [1, 2.5, 1, _null(), True]
    with pytest.raises(JsException) as raised:
        JSON.parse("{")
    assert str(raised.value) == (
        "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)"
    )


def test_json_has_javascripts_own_form() -> None:
    from js import JSON, Date
    from pyodide.ffi import to_js

    value = to_js({"n": 1.0, "i": float("nan"), "d": None, "t": Date.new(0)})

    assert JSON.stringify(value) == '{"n":1,"i":null,"t":"1970-01-01T00:00:00.000Z"}'
    assert JSON.stringify(to_js([1]), None, 2) == "[\n  1\n]"


def test_object_has_its_functions() -> None:
    from js import Object

    held = Object.fromEntries([["a", 1], ["b", 2]])

    assert Object.keys(held).to_py() == ["a", "b"]
    assert Object.values(held).to_py() == [1, 2]
    assert Object.entries(held).to_py() == [["a", 1], ["b", 2]]
    assert Object.assign(held, Object.fromEntries([["c", 3]])).c == 3


def test_date_follows_the_clock(frozen: Callable[[str], FrozenDateTimeFactory]) -> None:
    from js import Date

    frozen("2026-12-01T10:00:00Z")

    assert Date.now() == 1796119200000
    assert Date.new().toISOString() == "2026-12-01T10:00:00.000Z"


@pytest.mark.parametrize(
    ("arguments", "iso"),
    [
        ((0,), "1970-01-01T00:00:00.000Z"),
        (("2026-01-02",), "2026-01-02T00:00:00.000Z"),
        (("2026-01-02T03:04:05.678Z",), "2026-01-02T03:04:05.678Z"),
        ((2026, 0, 2, 3), "2026-01-02T03:00:00.000Z"),
    ],
)
def test_a_date_is_made_of_numbers_or_text(arguments: tuple[Any, ...], iso: str) -> None:
    from js import Date

    assert Date.new(*arguments).toISOString() == iso


def test_text_is_coded_both_ways() -> None:
    from js import TextDecoder, TextEncoder

    coded = TextEncoder.new().encode("hü")

    assert coded.to_bytes() == "hü".encode()
    assert TextDecoder.new().decode(coded) == "hü"


def test_arrays_of_bytes_share_their_memory_as_in_javascript() -> None:
    from js import ArrayBuffer, Uint8Array

    buffer = ArrayBuffer.new(4)
    whole = Uint8Array.new(buffer)
    part = whole.subarray(1, 3)
    copy = whole.slice(1, 3)

    part[0] = 7
    whole.set(Uint8Array.new([9]), 3)

    assert whole.to_bytes() == b"\x00\x07\x00\x09"
    assert (copy.to_bytes(), buffer.byteLength, part.length) == (b"\x00\x00", 4, 2)
    assert bytes(whole.to_py()) == whole.to_bytes()


def test_random_values_and_ids_are_random() -> None:
    from js import Uint8Array, crypto

    filled = crypto.getRandomValues(Uint8Array.new(16))

    assert filled.to_bytes() != bytes(16)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", crypto.randomUUID())


async def test_digests_are_those_of_hashlib() -> None:
    from js import Uint8Array, crypto

    digest = await crypto.subtle.digest("SHA-256", Uint8Array.new([1, 2]))

    assert digest.to_bytes() == hashlib.sha256(b"\x01\x02").digest()


async def test_timers_run_and_can_be_stopped() -> None:
    from js import clearInterval, clearTimeout, setInterval, setTimeout
    from pyodide.ffi import create_proxy

    seen: list[str] = []
    setTimeout(create_proxy(lambda: seen.append("once")), 1)
    stopped = setTimeout(create_proxy(lambda: seen.append("never")), 1)
    clearTimeout(stopped)
    ticking = setInterval(create_proxy(lambda: seen.append("tick")), 1)

    await wait_until(lambda: seen.count("tick") >= 2)
    clearInterval(ticking)

    assert seen.count("once") == 1
    assert "never" not in seen


async def test_a_function_that_was_only_lent_cannot_be_called_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    from js import Array, setTimeout

    seen: list[int] = []
    Array.new(1, 2).forEach(lambda item, *_: seen.append(item))
    setTimeout(lambda: seen.append(3), 1)

    await wait_until(lambda: "This borrowed proxy was automatically destroyed" in caplog.text)
    assert seen == [1, 2]


async def test_promises_can_be_chained_and_gathered() -> None:
    from js import Promise

    doubled = await Promise.resolve(2).then(lambda value: value * 2)
    caught = await Promise.reject("no").catch(lambda error: error.message)
    both = await Promise.all([Promise.resolve(1), 2])
    made = await Promise.new(lambda resolve, reject: resolve("done"))

    assert (doubled, caught, both.to_py(), made) == (4, "no", [1, 2], "done")
    with pytest.raises(JsException, match="no"):
        await Promise.reject("no")


async def test_functions_of_asyncio_take_a_promise_for_a_future() -> None:
    from js import Promise

    async def later(value: int) -> int:
        await asyncio.sleep(0.001)
        return value

    def promises() -> list[Any]:
        return [Promise.resolve(one).then(later) for one in (1, 2)]

    done, pending = await asyncio.wait(promises())
    ended: list[Any] = []
    kept, dropped = promises()
    kept.add_done_callback(ended.append)
    dropped.add_done_callback(ended.append)
    assert dropped.remove_done_callback(ended.append) == 1

    assert (sorted(one.result() for one in done), pending) == ([1, 2], set())
    assert await asyncio.gather(*promises()) == [1, 2]
    assert sorted([await one for one in asyncio.as_completed(promises())]) == [1, 2]
    assert await asyncio.wait_for(asyncio.shield(kept), 1) == 1
    assert (await dropped, ended, kept.done(), kept.exception()) == (2, [kept], True, None)


async def test_a_promise_that_is_not_waited_for_any_more_is_cancelled() -> None:
    from js import Promise

    async def never(_: object) -> None:
        await asyncio.Event().wait()

    promise = Promise.resolve(1).then(never)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(promise, 0.01)
    assert promise.cancelled()


async def test_a_promise_that_ends_runs_its_last_callback() -> None:
    from js import Promise

    seen: list[int] = []

    value = await Promise.resolve(1).finally_(lambda: seen.append(1))

    assert (value, seen) == (1, [1])


def test_console_writes_where_it_belongs(capsys: pytest.CaptureFixture[str]) -> None:
    from js import console
    from pyodide.ffi import to_js

    console.log("a", 1, to_js({"b": 2}))
    console.error("bad")

    out, err = capsys.readouterr()
    assert (out, err) == ('a 1 {"b":2}\n', "bad\n")


@pytest.mark.parametrize("name", ["WebSocketPair", "caches", "HTMLRewriter", "WebSocket"])
def test_a_global_that_is_not_here_says_so_at_its_first_use(name: str) -> None:
    import js

    held = getattr(js, name)

    with pytest.raises(JsException, match=f"{name} exists on the platform, not in localedge"):
        held.new()


def test_a_global_that_exists_nowhere_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="Nope"):
        from js import Nope  # noqa: F401


def test_a_class_is_not_called_without_new() -> None:
    from js import URL

    with pytest.raises(JsException, match="cannot be invoked without 'new'"):
        URL("https://a.test/")


def test_surplus_arguments_are_dropped_and_missing_ones_refused() -> None:
    from js import Headers

    headers = Headers.new()

    headers.set("a", "1", "surplus")

    assert headers.get("a") == "1"
    with pytest.raises(JsException, match="parameter 1 is missing"):
        headers.get()


def test_the_global_object_has_the_same_names() -> None:
    import js

    assert js.globalThis.URL == js.URL
    assert {"URL", "fetch", "console"} <= set(dir(js))


def test_base64_goes_both_ways() -> None:
    from js import atob, btoa

    assert atob(btoa("hi")) == "hi"
    with pytest.raises(JsException):
        btoa("漢")


def test_maps_and_sets_keep_their_order() -> None:
    from js import Map, Set

    held = Map.new([["b", 1], ["a", 2]])
    held.set("c", 3)

    assert (held.get("b"), held.size, list(held), held.to_py()) == (
        1,
        3,
        ["b", "a", "c"],
        {"b": 1, "a": 2, "c": 3},
    )
    assert Set.new([2, 1, 2]).to_py() == {1, 2}


def test_a_cancelled_controller_tells_its_signal() -> None:
    from js import AbortController
    from pyodide.ffi import create_proxy

    controller = AbortController.new()
    seen: list[str] = []
    listener = create_proxy(lambda event: seen.append(event.type))
    controller.signal.addEventListener("abort", listener)

    controller.abort()

    assert (controller.signal.aborted, seen) == (True, ["abort"])


def test_objects_with_get_and_has_can_be_indexed() -> None:
    from js import FormData, Headers, URLSearchParams

    headers = Headers.new([["a", "1"]])
    form = FormData.new()
    form["f"] = "x"
    headers["b"] = "2"

    assert (headers["A"], headers["b"], "a" in headers, "c" in headers) == ("1", "2", True, False)
    assert (URLSearchParams.new("q=1")["q"], form["f"]) == ("1", "x")
    with pytest.raises(KeyError):
        del headers["a"]
    assert headers["a"] is _null()


NUMBERS = [
    ("Int8Array", [1, -1, 200], [1, -1, -56]),
    ("Uint8Array", [1, 256, -1], [1, 0, 255]),
    ("Uint8ClampedArray", [1, 2], [1, 2]),
    ("Int16Array", [1, -2], [1, -2]),
    ("Uint16Array", [1, 65537], [1, 1]),
    ("Int32Array", [-4], [-4]),
    ("Uint32Array", [4], [4]),
    ("Float32Array", [1.5, -2.5], [1.5, -2.5]),
    ("Float64Array", [0.1], [0.1]),
]


@pytest.mark.parametrize(("name", "given", "held"), NUMBERS)
async def test_arrays_of_numbers_wrap_and_are_bodies(name: str, given: Any, held: Any) -> None:
    import js
    from workers import Response

    numbers = getattr(js, name).new(given)

    assert (list(numbers), numbers.length) == (held, len(held))
    assert list(numbers.to_py()) == held
    part = numbers.subarray(1)
    assert list(part) == held[1:]
    assert len(await Response(numbers).bytes()) == numbers.byteLength


async def test_a_data_view_is_a_body() -> None:
    from js import DataView, Uint8Array
    from workers import Response

    view = DataView.new(Uint8Array.new([104, 105]).buffer)

    assert await Response(view).text() == "hi"


def test_text_is_decoded_piece_by_piece() -> None:
    from js import TextDecoder, Uint8Array

    decoder = TextDecoder.new()
    euro = [0xE2, 0x82, 0xAC]

    first = decoder.decode(Uint8Array.new(euro[:2]), stream=True)
    second = decoder.decode(Uint8Array.new(euro[2:]), {"stream": True})

    assert (first, second, decoder.decode()) == ("", "€", "")


@pytest.mark.parametrize(
    ("label", "options", "source", "name"),
    [("nope", {}, [], "RangeError"), ("utf-8", {"fatal": True}, [255], "TypeError")],
)
def test_a_decoder_refuses_unknown_labels_and_broken_bytes(
    label: str, options: dict[str, Any], source: list[int], name: str
) -> None:
    from js import TextDecoder, Uint8Array

    with pytest.raises(JsException) as raised:
        TextDecoder.new(label, **options).decode(Uint8Array.new(source))

    assert raised.value.name == name
