"""Forms on the wire: multipart/form-data and the URL encoding."""

from __future__ import annotations

import re
import secrets
from email.message import Message
from typing import Final

from localedge.errors import js_type_error
from localedge.sdk.web.blob import File
from localedge.sdk.web.form_data import Entry, FormData
from localedge.sdk.web.search_params import form_decoded
from localedge.sdk.web.usv import utf8

_ESCAPED: Final = str.maketrans({"\n": "%0A", "\r": "%0D", '"': "%22"})
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def encode(form: FormData) -> tuple[bytes, str]:
    """`form` as a multipart body, and the content type that names its boundary.

    Source: html.spec.whatwg.org, "multipart/form-data encoding algorithm", read 2026-12-01.
    """
    boundary = secrets.token_hex(32)
    parts: list[bytes] = []
    for name, value in form.pairs():
        parts.append(utf8(f"--{boundary}\r\n{_head(name, value)}\r\n\r\n"))
        parts.append(value.data if isinstance(value, File) else _text(value))
        parts.append(b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    return b"".join(parts), f'multipart/form-data; boundary="{boundary}"'


def _head(name: str, value: Entry) -> str:
    disposition = f'Content-Disposition: form-data; name="{name.translate(_ESCAPED)}"'
    if not isinstance(value, File):
        return disposition
    kind = value.type or "application/octet-stream"
    name_on_wire = value.name.translate(_ESCAPED)
    return f'{disposition}; filename="{name_on_wire}"\r\nContent-Type: {kind}'


def _text(value: str) -> bytes:
    return utf8(_LINE_END.sub("\r\n", value))


def decode(data: bytes, content_type: str | None) -> FormData:
    """The form in a body of `content_type`.

    Errors: a JavaScript TypeError for other types, a missing boundary or a broken body.
    """
    header = Message()
    header["content-type"] = content_type or ""
    kind = header.get_content_type() if content_type else ""
    if kind == "application/x-www-form-urlencoded":
        form = FormData()
        for name, value in form_decoded(data.decode("utf-8", "replace")):
            form.append(name, value)
        return form
    if kind != "multipart/form-data":
        raise js_type_error(
            "Unrecognized Content-Type header value. FormData can only parse the following MIME "
            "types: multipart/form-data, application/x-www-form-urlencoded."
        )
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise js_type_error("No boundary string in Content-Type.")
    return _multipart(data, boundary.encode())


def _multipart(data: bytes, boundary: bytes) -> FormData:
    form = FormData()
    first, *parts = (b"\r\n" + data).split(b"\r\n--" + boundary)
    if not parts or not parts[-1].startswith(b"--"):
        raise js_type_error("No terminal boundary string in multipart/form-data body.")
    del first
    for part in parts[:-1]:
        head, found, body = part.lstrip(b" \t").removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not found:
            raise js_type_error("No end of headers in a part of the multipart/form-data body.")
        _add(form, head.decode("utf-8", "replace"), body)
    return form


_FIELD: Final = re.compile(r';\s*(name|filename)="((?:[^"\\]|\\.)*)"|;\s*(name|filename)=([^;\s]+)')
_UNESCAPED: Final = re.compile(r"%(0A|0D|22)|\\([\"\\])")


def _add(form: FormData, head: str, body: bytes) -> None:
    headers = dict(_header(line) for line in head.split("\r\n"))
    fields: dict[str, str] = {}
    for quoted, value, bare, token in _FIELD.findall(headers.get("content-disposition", "")):
        fields.setdefault(quoted or bare, _UNESCAPED.sub(_original, value) if quoted else token)
    name = fields.get("name")
    if name is None:
        raise js_type_error("No valid Content-Disposition header in a part of the form.")
    filename = fields.get("filename")
    if filename is None:
        form.append(name, body.decode("utf-8", "replace"))
    else:
        form.append(name, File(body, filename, headers.get("content-type", "").lower()))


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _original(found: re.Match[str]) -> str:
    return found[2] or {"0A": "\n", "0D": "\r", "22": '"'}[found[1]]
