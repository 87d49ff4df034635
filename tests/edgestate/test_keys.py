"""Keys follow the document's scheme, and no two ids make one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgestate import InvalidId, keys

IDS = st.text(min_size=1, max_size=40).filter(
    lambda text: any(c.isalnum() for c in text) and len(text.encode("utf-8", "replace")) <= 60
)


def test_plain_ids_make_the_documents_keys() -> None:
    assert keys.session("s1") == "agent:session:s1"
    assert keys.task("t1") == "agent:task:t1"
    assert keys.session_tasks("s1") == "agent:session:s1:tasks"
    assert keys.tool_state("t1", "search") == "agent:tool:t1:search"
    assert keys.lock("t1") == "agent:lock:t1"


def test_a_session_named_like_an_index_has_a_key_of_its_own() -> None:
    assert keys.session("x:tasks") != keys.session_tasks("x")


def test_a_tool_name_with_a_colon_does_not_reach_into_another_task() -> None:
    assert keys.tool_state("a", "b:c") != keys.tool_state("a:b", "c")


@given(first=st.tuples(IDS, IDS), second=st.tuples(IDS, IDS))
def test_different_ids_never_make_one_key(first: tuple[str, str], second: tuple[str, str]) -> None:
    try:
        made = [
            {keys.session(a), keys.session_task(a, b), keys.task(a), keys.tool_state(a, b)}
            for a, b in (first, second)
        ]
    except InvalidId:
        return

    assert len(made[0]) == 4
    assert first == second or made[0] != made[1]
    if first[0] != second[0]:
        assert not made[0] & made[1]


@given(IDS)
def test_the_id_of_a_membership_is_read_back(task_id: str) -> None:
    try:
        key = keys.session_task("s", task_id)
    except InvalidId:
        return

    assert keys.last_id(key) == task_id


@pytest.mark.parametrize("name", ["🙂", "→", "é", "…", "\u00a0🙂"])
def test_an_id_of_symbols_is_encoded(name: str) -> None:
    key = keys.session_task("s", name)

    assert key.isascii()
    assert keys.last_id(key) == name


@pytest.mark.parametrize("bad", ["", ":", "..", " ", "\u00a0", "x" * 513, "é" * 257, "\ud800a"])
def test_an_id_that_names_nothing_is_refused(bad: str) -> None:
    with pytest.raises(InvalidId) as refusal:
        keys.task(bad)

    assert refusal.value.kind == "task"
    assert refusal.value.value == bad


def test_an_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidId, match="not a text"):
        keys.task(5)  # type: ignore[arg-type]


def test_an_id_whose_key_would_be_too_long_is_refused() -> None:
    keys.task("é" * 80)

    with pytest.raises(InvalidId, match="makes a task key of 911 bytes"):
        keys.task("é" * 150)
