"""The page's own files: none makes HTML of text, none asks another host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from localedge.inspector import html
from localedge.inspector.html import Html, tag

STATIC = Path(html.__file__).parent / "static"
FILES = sorted(STATIC.iterdir())
_DANGEROUS = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_file_makes_html_of_text_or_asks_another_host(file: Path) -> None:
    text = file.read_text("utf-8")

    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))

    assert not re.search(_DANGEROUS, text)
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_what_is_no_element_is_text() -> None:
    made = tag(
        "p", "<b>&", ["x", 1, None], tag("i", "'\""), title='a"<b>', data_ray="1", hidden=True
    )

    assert made == (
        '<p title="a&quot;&lt;b&gt;" data-ray="1" hidden>&lt;b&gt;&amp;x1<i>&#x27;&quot;</i></p>'
    )
    assert isinstance(made, Html)


def test_an_element_that_is_empty_by_nature_has_no_end() -> None:
    assert tag("input", id="a", disabled=False) == '<input id="a">'
