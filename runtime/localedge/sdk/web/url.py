"""URL, by the parser that workerd uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from localedge.coercion import js_string
from localedge.errors import JsException, js_type_error
from localedge.sdk.web.search_params import URLSearchParams
from localedge.sdk.web.usv import utf8
from localedge.values import UNDEFINED, JsObject

if TYPE_CHECKING:
    import ada_url

_PARTS = (
    "hash",
    "host",
    "hostname",
    "href",
    "password",
    "pathname",
    "port",
    "protocol",
    "search",
    "username",
)


class URL(JsObject):
    """A parsed URL, whose parts can be set.

    Errors: a JavaScript TypeError for text that is no URL.
    Source: url.spec.whatwg.org, read 2026-12-01.
    """

    __slots__ = ("_params", "_url")
    js_class = "URL"
    js_methods: ClassVar[Mapping[str, str]] = {"toJSON": "text", "toString": "text"}
    js_properties: ClassVar[Mapping[str, str]] = {
        **{name: name for name in _PARTS},
        "origin": "origin",
        "searchParams": "search_params",
    }

    def __init__(self, text: Any, base: Any = UNDEFINED) -> None:
        self._url = _parsed(text, base)
        self._params: URLSearchParams | None = None

    def text(self) -> str:
        """The whole URL."""
        return self._url.href

    @property
    def origin(self) -> str:
        """Scheme, host and port; "null" where there is no origin."""
        return self._url.origin

    @property
    def search_params(self) -> URLSearchParams:
        """The query; a change of it changes the URL."""
        if self._params is None:
            self._params = URLSearchParams(self._url.search)
            self._params.changed = self._query_changed
        return self._params

    def _query_changed(self, query: str) -> None:
        self._url.search = query

    if TYPE_CHECKING:
        hash: str
        host: str
        hostname: str
        href: str
        password: str
        pathname: str
        port: str
        protocol: str
        search: str
        username: str

    else:

        def __getattr__(self, name: str) -> str:
            if name not in _PARTS:
                raise AttributeError(name)
            return getattr(self._url, name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in _PARTS:
                object.__setattr__(self, name, value)
                return
            text = js_string(value)
            if name == "href":
                self._url = _parsed(text, UNDEFINED)
            else:
                _set_part(self._url, name, text)
            if self._params is not None:
                self._params.replace(self._url.search.removeprefix("?"))


def _set_part(url: ada_url.URL, name: str, text: str) -> None:
    try:
        setattr(url, name, text)
    except ValueError:
        return


def _parsed(text: Any, base: Any) -> ada_url.URL:
    import ada_url

    try:
        return ada_url.URL(_scalar(text), None if base is UNDEFINED else _scalar(base))
    except ValueError as error:
        raise js_type_error("Invalid URL string.") from error


def _scalar(text: Any) -> str:
    """`text` without broken surrogates, which no URL can carry."""
    return utf8(js_string(text)).decode()


def can_parse(text: Any, base: Any = UNDEFINED) -> bool:
    """`URL.canParse(text, base)`."""
    try:
        _parsed(text, base)
    except JsException:
        return False
    return True


def parsed(text: Any, base: Any = UNDEFINED) -> URL | None:
    """`URL.parse(text, base)`: null for a bad one."""
    try:
        return URL(text, base)
    except JsException:
        return None


def normalized(text: str) -> str:
    """`text` as its URL's href.

    Errors: a JavaScript TypeError for text that is no URL.
    """
    return _parsed(text, UNDEFINED).href
