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

    port: int = Field(
        default=8787, ge=0, le=65535, description="The port of the dev server; 0 takes a free one."
    )
    isolates: int = Field(default=2, ge=1, description="How many processes serve requests.")
    fresh: bool = Field(default=False, description="A new isolate for each request.")
    loop_block_s: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that a worker may block its loop before its isolate is ended.",
    )
    memory_mb: int = Field(
        default=512, ge=32, description="Private memory of an isolate, in MB; it is ended beyond."
    )
    redis_url: str | None = Field(
        default=None,
        pattern=r"^(redis|rediss|unix)://.",
        description="A server of your own instead of the Valkey that is started.",
    )
    durability: Literal["process", "power"] = Field(
        default="process",
        description="What acknowledged writes outlive: a killed process, or a power cut too.",
    )
    consistency: Literal["strong", "eventual"] = Field(
        default="strong",
        description="Whether KV shows a write at once, or only after `cacheTtl` as on the edge.",
    )
    write_rate: Literal["off", "warn", "enforce"] = Field(
        default="off",
        description="What happens when one KV key is written more than once a second.",
    )
    time_travel_mb: int = Field(
        default=256, ge=0, description="MB that the copies of a database may take."
    )
    time_travel_copies: int = Field(
        default=120, ge=1, description="How many copies of a database are kept."
    )
    kv_call_limit: bool = Field(
        default=False,
        description="Whether KV calls of one invocation are counted, and refused beyond 1000.",
    )
    d1_call_limit: bool = Field(
        default=False,
        description="Whether D1 queries of one invocation are counted, and refused beyond 1000.",
    )
    import_guard: bool = Field(
        default=False, description="Whether entropy and I/O are refused while a worker is imported."
    )
    thread_guard: bool = Field(
        default=False, description="Whether the start of a thread is refused."
    )
    strict: bool = Field(
        default=False,
        description="All that the edge enforces and a laptop does not (docs/strict.md).",
    )


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
