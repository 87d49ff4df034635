"""SQL texts taken apart."""

from __future__ import annotations

import sqlite3
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localedge.d1.migrations.splitting import cut_transaction, split
from localedge.errors import OperatorError

_FRAGMENTS = st.sampled_from(
    [
        "SELECT", " ", "\n", ";", "'", '"', "`", "[", "]", "--", "/*", "*/", "x", "CREATE",
        "TEMP", "TRIGGER", "BEGIN", "END", "EXPLAIN", "é", "\0", "\r\n", "-", "/", "'a;b'", "$",
    ]
)  # fmt: skip


def _is_complete(text: str) -> bool:
    return sqlite3.complete_statement(text.replace("\0", "\1"))


@given(st.lists(_FRAGMENTS, max_size=25).map("".join))
def test_pieces_end_where_sqlite_says_that_a_statement_is_complete(text: str) -> None:
    sql = f"SELECT 0;SELECT 1{text}"
    expected, start = [], 0
    for end in range(1, len(sql) + 1):
        if sql[end - 1] == ";" and _is_complete(sql[start:end]):
            expected.append(sql[start : end - 1].strip())
            start = end
    expected.append(sql[start:].strip())

    pieces = split(sql)

    # Pieces without anything to run are dropped; all others are there, in order.
    assert [piece for piece in expected if piece in pieces] == pieces


@given(st.lists(st.sampled_from(["SELECT 1", "VALUES ('a;b')", "-- c;\nSELECT [;]"]), min_size=1))
def test_statements_that_are_joined_come_apart_again(statements: list[str]) -> None:
    assert split(" ;\n".join(statements) + "; ") in (statements, [" ;\n".join(statements) + "; "])


def test_a_string_full_of_semicolons_takes_no_longer_than_its_length() -> None:
    text = f"SELECT '{'; ' * 300_000}'; SELECT 2"
    started = time.perf_counter()

    pieces = split(text)

    assert len(pieces) == 2
    assert time.perf_counter() - started < 2


def test_a_trigger_is_one_piece() -> None:
    trigger = "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT ';'; END"

    assert split(f"{trigger};SELECT 2") == [trigger, "SELECT 2"]


def test_white_space_of_javascript_is_trimmed_and_other_space_is_not() -> None:
    assert split("\ufeffSELECT 1\u3000;\x85SELECT 2\x1c;") == ["SELECT 1", "\x85SELECT 2\x1c"]


def test_only_the_first_pair_of_transaction_texts_is_cut() -> None:
    assert cut_transaction("COMMIT; BEGIN TRANSACTION; COMMIT;") == "  COMMIT;"


def test_text_without_begin_transaction_keeps_its_commit() -> None:
    assert cut_transaction("SELECT 'COMMIT;'") == "SELECT 'COMMIT;'"


@pytest.mark.parametrize("text", ["BEGIN TRANSACTION;BEGIN TRANSACTION;", "BEGIN TRANSACTION ;"])
def test_a_begin_transaction_that_is_left_over_is_refused(text: str) -> None:
    with pytest.raises(OperatorError, match="it contains several transactions"):
        split(text)
