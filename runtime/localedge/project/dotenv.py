"""Files of `NAME=value` lines: how they are read, and how `$NAME` in a value is replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping

from localedge.project.document import is_index

_SPACE = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_LINE_START = r"(?:\A|(?<=[\n\r\u2028\u2029]))"
_LINE_END = r"(?=[\n\r\u2028\u2029]|\Z)"
_ENTRY = re.compile(
    rf"""{_LINE_START}{_SPACE}*(?:export{_SPACE}+)?
    (?P<name>[A-Za-z0-9_.-]+)
    (?:{_SPACE}*={_SPACE}*?|:{_SPACE}+?)
    (?P<value>
        {_SPACE}*'(?:\\'|[^'])*'
      | {_SPACE}*"(?:\\"|[^"])*"
      | {_SPACE}*`(?:\\`|[^`])*`
      | [^\#\r\n]+
    )?
    {_SPACE}*(?:\#[^\n\r\u2028\u2029]*)?{_LINE_END}
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(rf"{_LINE_START}(?P<quote>['\"`])(?P<inner>[\s\S]*)(?P=quote){_LINE_END}")
_OUTER_SPACE = re.compile(rf"\A{_SPACE}+|{_SPACE}+\Z")

_REFERENCE = re.compile(
    r"(?<!\\)\$\{(?P<braced>[^{}]+)\}|(?<!\\)\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
)
_OPERATOR = re.compile(r":\+|\+|:-|-")
_REPLACEMENT = re.compile(r"\$([$&`'])")
_MAX_REPLACEMENTS = 1_000


def parse(text: str) -> dict[str, str]:
    """Return the values that `text` gives, the later line winning, in the order of JavaScript.

    Shape: values are text; a double-quoted one has its `\\n` and `\\r` replaced, others nothing.
    Source: dotenv lib/main.js (16 and 17), read 2026-12-01; recorded cases `devvars_*`.
    """
    values: dict[str, str] = {}
    for entry in _ENTRY.finditer(re.sub(r"\r\n?", "\n", text)):
        values[entry["name"]] = _plain(entry["value"] or "")
    values.pop("__proto__", None)
    return _in_property_order(values)


def _plain(value: str) -> str:
    value = _OUTER_SPACE.sub("", value)
    is_double_quoted = value.startswith('"')
    value = _QUOTED.sub(lambda quoted: quoted["inner"], value)
    if is_double_quoted:
        value = value.replace("\\n", "\n").replace("\\r", "\r")
    return value


def _in_property_order(values: dict[str, str]) -> dict[str, str]:
    first = {name: values[name] for name in sorted(filter(is_index, values), key=int)}
    return first | values if first else values


def expand(parsed: Mapping[str, str], process_env: Mapping[str, str]) -> dict[str, str]:
    """Return `parsed` with `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+other}` replaced.

    A reference sees `process_env` and the entries before its own; a name that `process_env` has
    keeps that value untouched.

    Source: dotenv-expand lib/main.js (12), read 2026-12-01; recorded cases `dotenv_expansion*`.
    """
    done: dict[str, str] = {}
    for name, value in parsed.items():
        if name in process_env and process_env[name] != value:
            expanded = process_env[name]
        else:
            expanded = _expand_value(value, {**done, **process_env}, done)
        done[name] = expanded.replace("\\$", "$")
    return done


def _expand_value(value: str, known: Mapping[str, str], done: Mapping[str, str]) -> str:
    result = value
    seen: set[str] = set()
    for _ in range(_MAX_REPLACEMENTS):
        reference = _REFERENCE.search(result)
        if reference is None:
            break
        seen.add(result)
        name, replacement = _resolve(reference["braced"] or reference["bare"], known, seen)
        result = _replace_first(result, reference[0], replacement)
        if result == done.get(name):
            break
    return result


def _resolve(expression: str, known: Mapping[str, str], seen: set[str]) -> tuple[str, str]:
    """The name that `expression` begins with, and the text that stands in its place."""
    operator = _OPERATOR.search(expression)
    if operator is None:
        # JavaScript splits such an expression at "null", the text of the operator it has not.
        name, _, default = expression.partition("null")
        default = default if _ else ""
    else:
        name, _, default = expression.partition(operator[0])
    value = known.get(name)
    if operator is not None and "+" in operator[0]:
        return name, default if value else ""
    if value and value not in seen:
        return name, value
    return name, default


def _replace_first(text: str, old: str, new: str) -> str:
    """`text.replace(old, new)` of JavaScript, where `$$`, `$&`, "$`" and `$'` in `new` are special.

    Source: ECMA-262 GetSubstitution, read 2026-12-01.
    """
    start = text.find(old)
    end = start + len(old)
    special = {"$": "$", "&": old, "`": text[:start], "'": text[end:]}
    return text[:start] + _REPLACEMENT.sub(lambda match: special[match[1]], new) + text[end:]
