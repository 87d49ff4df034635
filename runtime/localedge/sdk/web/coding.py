"""A response's Content-Encoding, which the platform carries out itself.

Source: developers.cloudflare.com/workers/runtime-apis/response, `encodeBody`, read 2026-12-01.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncGenerator
from typing import Final

from localedge.sdk.web.response import Response
from localedge.stream import ReadableStream

_GZIP_WINDOW: Final = 31


def carried_out(response: Response) -> Response:
    """`response` as it leaves: compressed when its headers say gzip and it is not "manual".

    A worker that compresses by itself has to say `encodeBody: "manual"`, or the client gets what
    was compressed twice, here as there.
    """
    if response.encode_body == "manual" or response.body is None:
        return response
    # Differs: br is left as the worker made it; the platform compresses that too.
    if (response.headers.get("content-encoding") or "").strip().lower() != "gzip":
        return response
    pairs = [pair for pair in response.headers.raw() if pair[0] != "content-length"]
    body: bytes | ReadableStream
    if isinstance(response.body, bytes):
        body = gzip.compress(response.body, mtime=0)
    else:
        body = ReadableStream(_compressed(response.body))
    return Response(body, response.status, response.status_text, pairs)


async def _compressed(stream: ReadableStream) -> AsyncGenerator[bytes, None]:
    packer = zlib.compressobj(wbits=_GZIP_WINDOW)
    async for piece in stream:
        packed = packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
        if packed:
            yield packed
    yield packer.flush()
