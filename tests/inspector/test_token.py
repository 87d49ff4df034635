"""The token that buttons need."""

from __future__ import annotations

from pathlib import Path

from localedge.supervisor.state import Run, kept_token


def test_the_next_server_on_the_same_state_has_the_same_token(tmp_path: Path) -> None:
    first = kept_token(tmp_path)

    assert kept_token(tmp_path) == first
    assert len(first) >= 32
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


def test_a_token_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    first = kept_token(tmp_path)
    (tmp_path / "token").chmod(0o644)

    assert kept_token(tmp_path) != first


def test_a_token_that_was_cut_short_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("", "ascii")
    (tmp_path / "token").chmod(0o600)

    assert len(kept_token(tmp_path)) >= 32


def test_the_address_of_the_page_has_the_token_where_no_browser_sends_it() -> None:
    run = Run(pid=1, host="127.0.0.1", port=8787, token="abc", kv_url=None)

    assert run.page == "http://127.0.0.1:8787/cdn-cgi/localedge/#token=abc"
