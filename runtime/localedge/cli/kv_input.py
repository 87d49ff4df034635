"""The files and texts that `kv` commands read: bulk lists and metadata.

Source: wrangler 4 packages/wrangler/src/kv (helpers.ts, index.ts, cli/bulkGet.ts), read 2026-12-01.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any, Final

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from localedge.errors import JsException, OperatorError
from localedge.kv.jsontext import parse

_ITEM_SHAPE: Final = """Each item in the array should be an object that matches:

interface KeyValue {
  key: string;
  value: string;
  expiration?: number;
  expiration_ttl?: number;
  metadata?: object;
  base64?: boolean;
}
"""


class KeyValue(BaseModel):
    """One item of `kv bulk put`'s file. Units: `expiration_ttl` in seconds."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    key: str
    value: str
    expiration: float | int | None = None
    expiration_ttl: float | int | None = None
    metadata: Any = None
    base64: bool = False

    def content(self) -> bytes | str:
        """What is stored. Errors: OperatorError for a value that is not base64 and says so."""
        if not self.base64:
            return self.value
        try:
            return base64.b64decode(self.value, validate=True)
        except binascii.Error as exc:
            raise _bad_input(f'The value of key "{self.key}" is not base64: {exc}') from exc

    def options(self) -> dict[str, Any]:
        """The third argument of `put`."""
        given = {
            "expiration": self.expiration,
            "expirationTtl": self.expiration_ttl,
            "metadata": self.metadata,
        }
        return {name: value for name, value in given.items() if value is not None}


def _bad_input(message: str) -> OperatorError:
    return OperatorError("kv/input", message, "")


def read_bytes(path: Path) -> bytes:
    """What the file has. Errors: OperatorError."""
    try:
        return path.read_bytes()
    except OSError as exc:
        raise _bad_input(f"Could not read file: {path}: {exc.strerror}") from exc


def _read_array(path: Path, what: str) -> list[Any]:
    try:
        content = parse(read_bytes(path).decode("utf-8", "replace"))
    except JsException as exc:
        raise _bad_input(f'"{path}" is no JSON: {exc.message}') from exc
    if not isinstance(content, list):
        raise _bad_input(
            f'Unexpected JSON input from "{path}".\nExpected an array of {what} but got:\n'
            f"{json.dumps(content, ensure_ascii=False)}"
        )
    return content


def read_key_values(path: Path) -> list[KeyValue]:
    """The items of a file for `kv bulk put`, all of them checked.

    Errors: OperatorError that names every item that is none.
    """
    items: list[KeyValue] = []
    errors: list[str] = []
    for index, item in enumerate(_read_array(path, "key-value objects")):
        try:
            items.append(KeyValue.model_validate(item))
        except ValidationError:
            errors.append(f"The item at index {index} is {json.dumps(item, ensure_ascii=False)}")
            continue
        if unknown := items[-1].model_extra:
            typer.echo(
                f'Unexpected key-value properties in "{path}".\n'
                f"The item at index {index} contains unexpected properties: "
                f"{json.dumps(list(unknown))}.",
                err=True,
            )
    if errors:
        raise _bad_input(
            f'Unexpected JSON input from "{path}".\n{_ITEM_SHAPE}\n' + "\n".join(errors)
        )
    return items


def read_keys(path: Path, *, allow_objects: bool) -> list[str]:
    """The keys in a file for `kv bulk delete`, or with `allow_objects` for `kv bulk get`.

    Errors: OperatorError that names every item that is no key.
    """
    keys: list[str] = []
    errors: list[str] = []
    for index, item in enumerate(_read_array(path, "strings")):
        key = item.get("name") if allow_objects and isinstance(item, dict) else item
        if isinstance(key, str):
            keys.append(key)
        else:
            shown = json.dumps(item, ensure_ascii=False)
            errors.append(f'The item at index {index} is type: "{_type_name(item)}" - {shown}')
    if errors:
        wanted = 'strings or objects with a "name" key' if allow_objects else "strings"
        raise _bad_input(
            f'Unexpected JSON input from "{path}".\nExpected an array of {wanted}.\n'
            + "\n".join(errors)
        )
    return keys


def _type_name(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
    return "object"


def parse_metadata(text: str | None) -> Any:
    """The value of `--metadata`. Errors: a usage error for what is no JSON."""
    if text is None:
        return None
    try:
        return parse(text)
    except JsException as exc:
        raise typer.BadParameter(f"--metadata is no JSON: {exc.message}") from exc
