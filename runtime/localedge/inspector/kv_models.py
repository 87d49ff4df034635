"""What the page and its API show of KV."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class Shown(BaseModel):
    """What is shown: read once, never written back."""

    model_config = ConfigDict(frozen=True)


class BindingShown(Shown):
    """A name in the `env` of one worker."""

    worker: str
    binding: str


class NamespaceShown(Shown):
    """A namespace, under all the names that workers have for it.

    Shape: `keys` may count some that have expired.
    """

    id: str
    bindings: tuple[BindingShown, ...]
    consistency: Literal["strong", "eventual"]
    keys: int
    locations: dict[str, int]


class KeyShown(Shown):
    """A key in a list.

    Units: `expiration` in seconds since the epoch, `size_bytes` of the value.
    """

    name: str
    size_bytes: int
    expiration: int | None
    metadata: JsonValue


class KeyPage(Shown):
    """Keys in bytewise order; `cursor` leads to the next page, None on the last.

    Units: `now_ms` is the workers' time, since the epoch.
    """

    keys: tuple[KeyShown, ...]
    cursor: str | None
    now_ms: int


class CopyShown(Shown):
    """What a location answers with without reading the key again.

    Shape: `text` is the start of it, None for an absence; `is_newest` when it is what is stored.
    Units: `age_ms` since the location read it, `left_ms` until it reads again.
    """

    location: str
    text: str | None
    is_newest: bool
    age_ms: int
    left_ms: int


class ValueShown(Shown):
    """A key's value in all its forms.

    Shape: `text` is None for bytes that are no UTF-8, `json_text` the value indented, None when
    it is no JSON; `hex` has 16 bytes to a line. Each form is cut after `shown_bytes` of the
    `size_bytes`. `copies` are those of other locations, `copies_complete` false when there were
    too many keys to look through.
    """

    key: str
    size_bytes: int
    shown_bytes: int
    text: str | None
    json_text: str | None
    hex: str
    metadata: JsonValue
    expiration: int | None
    now_ms: int
    copies: tuple[CopyShown, ...]
    copies_complete: bool


class Put(Shown):
    """A new value for a key; what is not given is not kept from the old one.

    Shape: exactly one of `text` and `hex`. Units: as the options of `env.KV.put`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = None
    hex: str | None = None
    metadata: JsonValue = None
    expiration: int | None = None
    expiration_ttl: int | None = None
