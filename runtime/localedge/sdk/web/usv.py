"""Text on its way out of JavaScript, where a surrogate without a partner is U+FFFD."""

from __future__ import annotations


def utf8(text: str) -> bytes:
    """`text` as the platform sends it.

    Shape: two surrogates that make a pair are the one character; each other one is U+FFFD.
    Source: webidl.spec.whatwg.org, USVString, read 2026-12-01.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace").encode()
