"""crypto: random values, ids, and what `subtle` has of them."""

from __future__ import annotations

import secrets
import uuid
from typing import Any, Final

from localedge.errors import js_type_error
from localedge.sdk.web.subtle import SUBTLE
from localedge.values import JsBuffer, NativeFunction


def _random_values(target: Any) -> Any:
    if not isinstance(target, JsBuffer):
        raise js_type_error("getRandomValues needs a typed array.")
    target.view[:] = secrets.token_bytes(len(target.view))
    return target


CRYPTO: Final = {
    "getRandomValues": NativeFunction("getRandomValues", _random_values),
    "randomUUID": NativeFunction("randomUUID", lambda: str(uuid.uuid4())),
    "subtle": SUBTLE,
}
