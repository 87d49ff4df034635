"""FormData, Blob, File, and forms on the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.errors import JsException
from localedge.sdk.web import File, FormData, multipart

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("platform")]

names = st.text(st.characters(codec="utf-8", exclude_characters="\\%"), min_size=1, max_size=12)


@given(st.lists(st.tuples(names, st.binary(max_size=64), names), max_size=5))
def test_a_form_of_files_survives_the_wire(fields: list[tuple[str, bytes, str]]) -> None:
    form = FormData()
    for name, data, filename in fields:
        form.append(name, File(data, filename, "text/x"))

    read = multipart.decode(*multipart.encode(form))

    found = [(n, f.data, f.name, f.type) for n, f in read.pairs() if isinstance(f, File)]
    assert found == [(name, data, filename, "text/x") for name, data, filename in fields]


@pytest.mark.parametrize("text", ["", "a", "two\r\nlines", "--dash", "ü 漢", '"quoted"'])
def test_a_text_field_survives_the_wire(text: str) -> None:
    form = FormData()
    form.append("field", text)

    read = multipart.decode(*multipart.encode(form))

    assert read.entries() == [["field", text]]


BROKEN = [
    (b"x", None, "Unrecognized Content-Type"),
    (b"x", "text/plain", "Unrecognized Content-Type"),
    (b"x", "multipart/form-data", "No boundary"),
    (b"x", "multipart/form-data; boundary=b", "No terminal boundary"),
    (b"--b\r\nA: 1\r\n--b--", "multipart/form-data; boundary=b", "No end of headers"),
    (b"--b\r\nA: 1\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b", "Content-Disposition"),
]


@pytest.mark.parametrize(("data", "content_type", "text"), BROKEN)
def test_a_broken_form_is_refused(data: bytes, content_type: str | None, text: str) -> None:
    with pytest.raises(JsException, match=text):
        multipart.decode(data, content_type)


async def test_a_form_sent_by_a_browser_is_read() -> None:
    import workers

    body = (
        b'--b0\r\nContent-Disposition: form-data; name="title"\r\n\r\nhi\r\n'
        b'--b0\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nline\r\n\r\n--b0--\r\n"
    )
    request = workers.Request(
        "https://a.test",
        method="POST",
        body=body,
        headers={"content-type": "multipart/form-data; boundary=b0"},
    )

    form = await request.form_data()

    file = form["f"]
    assert form["title"] == "hi"
    assert (file.name, file.content_type, await file.text()) == ("a.txt", "text/plain", "line\r\n")


async def test_a_form_in_a_response_is_read_by_both_names() -> None:
    import workers

    form = workers.FormData({"a": "1"})

    first = await workers.Response(form).form_data()
    second = await workers.Response(form).formData()

    assert (first["a"], second["a"]) == ("1", "1")


async def test_reading_a_form_twice_is_refused() -> None:
    import workers

    response = workers.Response(workers.FormData({"a": "1"}))
    await response.form_data()

    with pytest.raises(OSError, match="already used"):
        await response.form_data()


def test_a_missing_field_is_null_and_not_a_key_error() -> None:
    import workers
    from pyodide.ffi import jsnull

    assert workers.FormData()["nope"] is jsnull


def test_fields_can_be_repeated_replaced_and_deleted() -> None:
    import workers

    form = workers.FormData()
    form.append("a", "1")
    form.append("a", "2")
    form.append("b", "3")

    form["a"] = "4"
    del form["b"]

    assert list(form.items()) == [("a", "4")]
    assert (list(form), list(form.values())) == (["a"], ["4"])


def test_len_of_a_form_fails_as_on_the_platform() -> None:
    import workers

    with pytest.raises(TypeError):
        len(workers.FormData())


def test_a_list_as_a_field_is_refused() -> None:
    import workers

    with pytest.raises(TypeError, match="Expected single item"):
        workers.FormData()["a"] = ["1"]


def test_a_form_of_something_else_is_refused() -> None:
    import workers

    with pytest.raises(TypeError, match="Expected form_data to be a dict"):
        workers.FormData([("a", "1")])


async def test_a_blob_in_a_form_becomes_a_file() -> None:
    import workers

    form = workers.FormData()
    form.append("f", workers.Blob(["x"], content_type="text/x"), filename="n.txt")
    form.append("g", workers.Blob(["y"]))

    assert (form["f"].name, form["f"].content_type, form["g"].name) == ("n.txt", "text/x", "blob")


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ("text", b"text"),
        (b"bytes", b"bytes"),
        (["a", b"b", bytearray(b"c"), memoryview(b"d")], b"abcd"),
        ([], b""),
    ],
)
async def test_a_blob_is_made_of_its_parts(parts: Any, content: bytes) -> None:
    import workers

    assert await workers.Blob(parts).bytes() == content


async def test_a_blob_of_one_blob_keeps_its_type() -> None:
    import workers

    first = workers.Blob("x", content_type="TEXT/X")

    assert workers.Blob(first).content_type == "text/x"
    assert workers.Blob([first]).content_type == ""


def test_a_blob_of_a_number_is_refused() -> None:
    import workers

    with pytest.raises(TypeError, match="Don't know how to handle <class 'int'> for Blob"):
        workers.Blob([5])


@pytest.mark.parametrize(
    ("start", "end", "content"),
    [(None, None, "abcd"), (1, None, "bcd"), (-2, None, "cd"), (1, -1, "bc")],
)
async def test_a_blob_is_sliced_like_text(start: Any, end: Any, content: str) -> None:
    import workers

    assert await workers.Blob("abcd").slice(start, end).text() == content


def test_a_file_of_a_file_keeps_when_it_was_changed() -> None:
    import workers

    first = workers.File("x", "a.txt", last_modified=5)

    assert workers.File(first, "b.txt").last_modified == 5


def test_endings_are_accepted() -> None:
    import workers

    assert workers.Blob("a\n", endings=workers.BlobEnding.NATIVE).size == 2
