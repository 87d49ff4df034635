"""The two languages of configuration files, and where their mistakes are said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.project.projects import refused, write

from localedge.project import jsonc, toml
from localedge.project.document import stringify

MISTAKES = [
    ('{"a" 1}', "ColonExpected", 5),
    ('{"a":}', "ValueExpected", 5),
    ('{,"a":1}', "ValueExpected", 1),
    ('{"a":1', "CloseBraceExpected", 6),
    ("[1", "CloseBracketExpected", 2),
    ("[1,,2]", "ValueExpected", 3),
    ("[1 2]", "CommaExpected", 3),
    ("{a:1}", "InvalidSymbol", 1),
    ("{} {}", "EndOfFileExpected", 3),
    ("/* x", "UnexpectedEndOfComment", 0),
    ("/*/", "UnexpectedEndOfComment", 0),
    ('"abc', "UnexpectedEndOfString", 0),
    ('"a\nb"', "UnexpectedEndOfString", 0),
    ('"\t"', "InvalidCharacter", 0),
    ('"\\x"', "InvalidEscapeCharacter", 0),
    ('"\\u12g4"', "InvalidUnicode", 0),
    ("1.", "UnexpectedEndOfNumber", 0),
    ("1e", "UnexpectedEndOfNumber", 0),
    ("01", "EndOfFileExpected", 1),
    (".5", "InvalidSymbol", 0),
    ("+1", "InvalidSymbol", 0),
    ("NaN", "InvalidSymbol", 0),
    ("# x", "InvalidSymbol", 0),
    ("\u00a0{}", "InvalidSymbol", 0),
    ("[" * 5000, "TooDeep", jsonc.MAX_DEPTH + 1),
]


@pytest.mark.parametrize(("text", "name", "offset"), MISTAKES)
def test_the_first_mistake_in_jsonc_has_a_name_and_a_place(
    text: str, name: str, offset: int
) -> None:
    with pytest.raises(jsonc.JsoncError) as caught:
        jsonc.parse(text)

    assert (caught.value.name, caught.value.offset) == (name, offset)


def test_the_line_and_column_of_a_mistake_are_told(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.jsonc": '{\n  "name": "shop",\n  "vars": nope\n}\n'})

    error = refused(tmp_path)

    assert error.message == "wrangler.jsonc:3:11: InvalidSymbol"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_what_is_written_as_json_is_read_again(value: object) -> None:
    text = f"// head\n{stringify(value)} /* tail */"  # type: ignore[arg-type]  # JSON by strategy

    read, _ = jsonc.parse(text)

    assert read == _without_prototypes(value)


def _without_prototypes(value: object) -> object:
    if isinstance(value, dict):
        return {k: _without_prototypes(v) for k, v in value.items() if k != "__proto__"}
    return [_without_prototypes(v) for v in value] if isinstance(value, list) else value


@given(st.text(alphabet='{}[]",:/*\\ \n01.e-tu"a', max_size=12))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        jsonc.parse(text)
    except jsonc.JsoncError as error:
        assert 0 <= error.offset <= len(text)


def test_halves_of_a_surrogate_pair_join_and_a_lone_one_is_replaced() -> None:
    assert jsonc.parse(r'"\ud83c\udf89 \ud800"')[0] == "🎉 \ufffd"


def test_array_indices_come_first_in_an_object() -> None:
    value, _ = jsonc.parse('{"b": 1, "10": 2, "9": 3, "01": 4}')

    assert list(value) == ["9", "10", "b", "01"]  # type: ignore[arg-type]  # an object


TOML_MISTAKES = [
    ("A = nope", "invalid value", 1),
    ("A = 1\nA = 2\n", "trying to redefine an already defined table or value", None),
    ("[a]\nx = 1\n[a]\n", "trying to redefine an already defined table or value", 3),
    ("A\n", "incomplete key-value: cannot find end of key", 1),
    ("A =\n", "incomplete key-value declaration: no value specified", 1),
    ('A = "x" y\n', "each key-value declaration must be followed by an end-of-line", 1),
    ('A = "x\n', "control characters are not allowed in strings", 1),
    ('x = 1\nA = "\\q"\n', "unrecognized escape sequence", 2),
    ("A = [1\n", "unfinished array encountered", None),
    ("A = 12345678901234567890\n", "integer value cannot be represented losslessly", 1),
    ("x = 1\n[a.b]\nA = -9007199254740992\n", "integer value cannot be represented losslessly", 3),
]


@pytest.mark.parametrize(("text", "phrase", "line"), TOML_MISTAKES)
def test_the_first_mistake_in_toml_has_a_phrase_and_a_line(
    text: str, phrase: str, line: int | None
) -> None:
    with pytest.raises(toml.TomlError) as caught:
        toml.parse(text)

    assert caught.value.message.startswith(f"Invalid TOML document: {phrase}")
    assert line is None or caught.value.line == line


def test_the_lines_of_toml_keys_are_known_inside_tables_of_an_array() -> None:
    _, lines = toml.parse('a.b = 1\n[[k]]\nx = 1\n[[k]]\n"y z" = 1\n[k.in]\nw = 1\n')

    assert lines[("a", "b")] == 1
    assert lines[("k", 0, "x")] == 3
    assert lines[("k", 1, "y z")] == 5
    assert lines[("k", 1, "in", "w")] == 7


@pytest.mark.parametrize(
    ("mark", "name"), [(b"\xff\xfe", "UTF-16 LE"), (b"\x00\x00\xfe\xff", "UTF-32 BE")]
)
def test_another_encoding_is_named(tmp_path: Path, mark: bytes, name: str) -> None:
    (tmp_path / "wrangler.jsonc").write_bytes(mark + b"{}")

    assert f"{name} byte order marker" in refused(tmp_path).message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = {b = 1,}\n", {"a": {"b": 1}}),
        (
            "a = {\n b = 1, # one, }\n c = [1,\n 2], # }\n}\nd = 3\n",
            {"a": {"b": 1, "c": [1, 2]}, "d": 3},
        ),
        ('a = "\\e\\x41\\\\x41"\n', {"a": "\x1bA\\x41"}),
        ('a = """\\e"\n\\x42"""\n', {"a": '\x1b"\nB'}),
        ("a = '\\e'\nb = {c = '},',}\n", {"a": "\\e", "b": {"c": "},"}}),
        ("a = [{b = 1,\n}, {b = 2}]\n[t]\nc = 1\n", {"a": [{"b": 1}, {"b": 2}], "t": {"c": 1}}),
    ],
)
def test_toml_may_be_that_of_version_1_1(text: str, value: object) -> None:
    assert toml.parse(text)[0] == value


@pytest.mark.parametrize("text", ["a = {b = 1,,}\n", "a = {,}\n", 'a = "\\xz"\n', "a = {b = 1\n"])
def test_what_version_1_1_has_not_is_a_mistake(text: str) -> None:
    with pytest.raises(toml.TomlError):
        toml.parse(text)
