"""A project as its configuration says, resolved for one environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from localedge.project.attached import Attached


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KVNamespace(Frozen):
    """One entry of `kv_namespaces`."""

    binding: str
    id: str | None = None
    preview_id: str | None = None

    @property
    def storage_id(self) -> str:
        """Names the store: bindings with the same id share one."""
        return self.preview_id or self.id or self.binding


class D1Database(Frozen):
    """One entry of `d1_databases`."""

    binding: str
    database_name: str | None = None
    database_id: str | None = None
    preview_database_id: str | None = None
    migrations_dir: str | None = None
    migrations_table: str | None = None
    migrations_pattern: str | None = None

    @property
    def storage_id(self) -> str:
        """Names the database file: bindings with the same id share one."""
        return self.preview_database_id or self.database_id or self.binding


class Limits(Frozen):
    """`limits`: CPU in milliseconds per invocation."""

    cpu_ms: int = 30_000
    subrequests: int | None = None


class Local(Frozen):
    """The `[localedge]` table: what exists only here."""

    port: int = Field(default=8787, ge=0, le=65535)
    isolates: int = Field(default=2, ge=1)
    fresh: bool = False
    loop_block_s: float = Field(default=30.0, gt=0)
    memory_mb: int = Field(default=512, ge=32)
    redis_url: str | None = Field(default=None, pattern=r"^(redis|rediss|unix)://.")
    durability: Literal["process", "power"] = "process"
    consistency: Literal["strong", "eventual"] = "strong"
    write_rate: Literal["off", "warn", "enforce"] = "off"
    time_travel_mb: int = Field(default=256, ge=0)
    time_travel_copies: int = Field(default=120, ge=1)
    kv_call_limit: bool = False
    d1_call_limit: bool = False
    import_guard: bool = False
    thread_guard: bool = False
    strict: bool = False


class Project(Frozen):
    """Everything that a run of the project needs to know.

    Shape: `root` is the folder of the config file `file` and of `.localedge/`; `main` is absolute.
    `vars` are JSON values, `secrets` texts that override vars of the same name; `attached` are the
    bindings that are no stores, `placeholders` maps one that we do not run to the platform's class
    name. `warnings` are sentences for people.
    """

    root: Path
    file: Path
    name: str
    main: Path | None
    environment: str | None = None
    compatibility_date: str | None = None
    compatibility_flags: tuple[str, ...] = ()
    vars: dict[str, Any] = {}
    secrets: dict[str, str] = {}
    secrets_from: tuple[str, ...] = ()
    kv_namespaces: tuple[KVNamespace, ...] = ()
    d1_databases: tuple[D1Database, ...] = ()
    crons: tuple[str, ...] = ()
    limits: Limits = Limits()
    local: Local = Local()
    attached: Attached = Attached()
    placeholders: dict[str, str] = {}
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> Path:
        """The folder of all local state."""
        return self.root / ".localedge"

    @property
    def bundle(self) -> Path:
        """The folder whose content is the worker: the one that `main` lies in."""
        if self.main is None:
            raise ValueError("a project without `main` has no bundle")
        return self.main.parent
