"""Rules on calls of D1: what is bound, and what `exec` takes for a statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from localedge.port.check.crossing import is_statement
from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source, shown

IN_LIST: Final = Rule(
    "in-list",
    "error",
    "IN (?) with a list binds one BLOB or is refused; it does not match the list's members.",
    "Write one ? for each member, or IN (SELECT value FROM json_each(?)) with json.dumps(…).",
)
EXEC_LINES: Final = Rule(
    "exec-lines",
    "error",
    "exec() takes every line for a statement of its own; this one goes over several lines.",
    "Put the statement on one line, or use prepare(…).run().",
)
TEXT_NUMBER: Final = Rule(
    "number-in-text",
    "warning",
    "a number bound to the TEXT column {column} becomes text such as 1.0: D1 binds doubles.",
    "Bind str(…), or give the column another type.",
)

_IN_PARAMETER: Final = re.compile(r"\bIN\s*\(\s*\?\d*\s*\)", re.IGNORECASE)
_INSERT: Final = re.compile(
    r"(?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO\s+[\"`\[]?(\w+)[\"`\]]?\s*\(([^)]*)\)\s*"
    r"VALUES\s*\(([^)]*)\)",
    re.IGNORECASE,
)
_TABLES: Final = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+[\"`\[]?(\w+)", re.IGNORECASE)
_COMPARED: Final = re.compile(
    r"(?:(\w+)\s*\.\s*)?[\"`\[]?(\w+)[\"`\]]?\s*(?:=|==|<>|!=|\bIS\b|\bIS\s+NOT\b)\s*(\?\d*)",
    re.IGNORECASE,
)
_STARTS: Final = re.compile(
    r"(?i)(select|insert|update|delete|replace|create|drop|alter|pragma|with|analyze|reindex"
    r"|explain|values|vacuum|--)\b|$|--"
)
_DEEPEST: Final = 20
_NUMBERS: Final = frozenset(("int", "float", "len", "round", "sum", "abs", "ord"))
_NUMBER_CALLS: Final = frozenset(
    (
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "random.random",
        "random.randint",
        "js.Date.now",
    )
)
_LISTS: Final = frozenset(("list", "sorted"))


@dataclass(frozen=True, slots=True)
class Written:
    """A text of SQL in a worker: the call that takes it, and how (`prepare` or `exec`)."""

    call: ast.Call
    method: str
    sql: str


def statements(source: Source, edge: Edge) -> Iterator[Written]:
    """The texts that `source` gives to D1, where they are certain."""
    for node in source.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(attr="prepare" | "exec" as method, value=database),
                args=[text, *_],
            ) if edge.kind_of(source, database) == "d1":
                sql = source.text_of(text)
                if sql is not None:
                    yield Written(node, method, sql)


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What `source` gets wrong in its calls of D1."""
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="bind", value=statement)) if is_statement(
                source, edge, statement
            ):
                yield from _bind(source, edge, node, statement)
    for written in statements(source, edge):
        if written.method == "exec" and _is_broken(written.sql):
            place = (source.file, written.call.lineno, written.call.col_offset + 1)
            yield at(EXEC_LINES, *place)


def _bind(source: Source, edge: Edge, node: ast.Call, statement: ast.expr) -> Iterator[Finding]:
    prepared = source.value_of(statement)
    while isinstance(prepared, ast.Call) and isinstance(prepared.func, ast.Attribute):
        if prepared.func.attr == "prepare":
            break
        prepared = source.value_of(prepared.func.value)
    if not isinstance(prepared, ast.Call) or not prepared.args:
        return
    sql = source.text_of(prepared.args[0])
    if sql is None:
        return
    if _IN_PARAMETER.search(sql) and any(_is_list(source, one) for one in node.args):
        yield at(IN_LIST, source.file, node.lineno, node.col_offset + 1)
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    for index, column in _text_targets(sql, edge.text_columns):
        if index < len(node.args) and is_number(source, node.args[index]):
            value = node.args[index]
            place = (source.file, value.lineno, value.col_offset + 1)
            yield at(TEXT_NUMBER, *place, column=column)


def _text_targets(sql: str, columns: frozenset[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    """(position of the bound value, column) for each value that meets a TEXT column."""
    tables = [name.lower() for name in _TABLES.findall(sql)]
    marks = [found.start() for found in re.finditer(r"\?\d*", _without_texts(sql))]
    inserted = _INSERT.search(sql)
    if inserted is not None:
        table, names, values = inserted.groups()
        start = inserted.start(3)
        for name, value in zip(names.split(","), values.split(","), strict=False):
            offset = start + len(value) - len(value.lstrip())
            start += len(value) + 1
            column = name.strip().strip('"`[]')
            if value.strip().startswith("?") and (table.lower(), column.lower()) in columns:
                yield _position(value.strip(), marks, offset), f"{table}.{column}"
    for found in _COMPARED.finditer(sql):
        owners = [table for table in tables if (table, found[2].lower()) in columns]
        if owners and found.start(3) in marks:
            yield _position(found[3], marks, found.start(3)), f"{owners[0]}.{found[2]}"


def _position(mark: str, marks: list[int], offset: int) -> int:
    return int(mark[1:]) - 1 if len(mark) > 1 else marks.index(offset)


def _without_texts(sql: str) -> str:
    return re.sub(r"'[^']*'", lambda found: " " * len(found[0]), sql)


def is_number(source: Source, node: ast.expr, depth: int = 0) -> bool:
    """Whether `node` is certain to be a number."""
    if depth > _DEEPEST:
        return False
    match source.value_of(node):
        case ast.Constant(value=bool() | int() | float()):
            return True
        case ast.Call(func=func):
            name = source.name_of(func)
            return name in _NUMBERS or name in _NUMBER_CALLS
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            operands = (left, right)
            return all(is_number(source, one, depth + 1) for one in operands)
        case ast.Name() as name:
            return _annotation(source, name) in ("int", "float", "bool")
    return False


def _is_list(source: Source, node: ast.expr) -> bool:
    match source.value_of(node):
        case ast.List() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _LISTS
        case ast.Name() as name:
            return _annotation(source, name).startswith(("list", "List", "Sequence"))
    return False


def _annotation(source: Source, node: ast.Name) -> str:
    """How the function that `node` is a parameter of annotates it; "" when it does not."""
    function = source.function_of(node)
    if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        for argument in [*function.args.args, *function.args.kwonlyargs]:
            if argument.arg == node.id and argument.annotation is not None:
                return shown(argument.annotation)
    return ""


def _is_broken(sql: str) -> bool:
    """Whether a statement of `sql` goes over several lines."""
    lines = [line.strip() for line in sql.strip().split("\n")]
    return len(lines) > 1 and any(_is_part(line) for line in lines)


def _is_part(line: str) -> bool:
    bare = _without_texts(line).split("--")[0]
    return bare.count("(") != bare.count(")") or _STARTS.match(line) is None
