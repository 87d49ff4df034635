"""HTML that cannot be forgotten to be escaped: what is not `Html` is text, and becomes it here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final, TypeAlias

_VOID: Final = frozenset(("br", "hr", "img", "input", "link", "meta"))


class Html(str):
    """Text that is HTML already, made by `tag`."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | bool | None


def tag(element: str, /, *children: Child, **attributes: Attribute) -> Html:
    """The element of that name, with everything in it that is no `Html` as text.

    Shape: in the name of an attribute a trailing underscore goes and others become hyphens
    (`class_`, `aria_label`, `data_ray`); True is the bare attribute, None and False leave it out.
    """
    opened = f"<{element}{''.join(_attribute(*one) for one in attributes.items())}>"
    if element in _VOID:
        return Html(opened)
    return Html(f"{opened}{fragment(*children)}</{element}>")


def fragment(*children: Child) -> Html:
    """`children` after each other."""
    return Html("".join(_child(child) for child in children))


def document(*children: Child) -> Html:
    """A whole page."""
    return Html(f"<!doctype html>{fragment(*children)}")


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int | float):
        return escape(str(child))
    return "".join(_child(one) for one in child)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
