"""`pyodide.http`: fetching, and the errors of responses."""

from pyodide.http._errors import AbortError, BodyUsedError, HttpStatusError
from pyodide.http._fetch import pyfetch
from pyodide.http._response import FetchResponse

__all__ = ["AbortError", "BodyUsedError", "FetchResponse", "HttpStatusError", "pyfetch"]
