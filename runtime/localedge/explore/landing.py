"""Whether a dead worker's write would still change something, were it carried out now."""

from __future__ import annotations

from contextlib import suppress

from localedge.errors import JsException
from localedge.explore.stores import Stores
from localedge.probe import Call
from localedge.stream import ReadableStream
from localedge.values import JsObject


async def would_change(call: Call, stores: Stores) -> bool:
    """Whether the stores would be others after `call`; they are left as they are."""
    if any(isinstance(argument, ReadableStream) for argument in call.arguments):
        # It can be read once only.
        return True
    before = stores.state()
    target = call.target
    assert isinstance(target, JsObject)
    method = getattr(target, target.js_methods[call.operation])
    with suppress(JsException):
        await method(*call.arguments)
    if stores.state().same_stores(before):
        return False
    stores.put_back(before)
    return True
