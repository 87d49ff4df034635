"""Imported so that pydantic has looked for its plugins before isolates with models are forked."""

from __future__ import annotations

from pydantic import BaseModel


class FirstModel(BaseModel):
    """A model that was made with the plugins which the environment has."""
