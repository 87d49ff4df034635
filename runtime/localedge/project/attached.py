"""What else is bound to a worker besides KV and D1, as the configuration says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

HtmlHandling: TypeAlias = Literal[
    "auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"
]
NotFoundHandling: TypeAlias = Literal["none", "404-page", "single-page-application"]
DEFAULT_PORTS: Final = {"postgres": 5432, "postgresql": 5432, "mysql": 3306}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Assets(_Frozen):
    """`assets`: static files.

    Shape: `directory` is absolute; `run_worker_first` holds the rules when it is a list. With
    `prefers_navigation` a browser's page load that no file answers is not the worker's.
    """

    directory: Path
    binding: str | None = None
    html_handling: HtmlHandling = "auto-trailing-slash"
    not_found_handling: NotFoundHandling = "none"
    run_worker_first: bool | tuple[str, ...] = False
    prefers_navigation: bool = True


class Service(_Frozen):
    """One entry of `services`: `entrypoint` None is the default one, `props` become `ctx.props`."""

    binding: str
    service: str
    entrypoint: str | None = None
    props: dict[str, Any] = {}


class RateLimit(_Frozen):
    """One entry of `ratelimits`: `limit` calls for each key in `period_s` seconds."""

    binding: str
    namespace_id: str
    limit: float
    period_s: int


class Hyperdrive(_Frozen):
    """One entry of `hyperdrive` whose database can be reached from here."""

    binding: str
    connection: str
    host: str
    port: int
    user: str
    password: str
    database: str


class Attached(_Frozen):
    """All of them; `version_metadata` is the name of that binding."""

    assets: Assets | None = None
    services: tuple[Service, ...] = ()
    ratelimits: tuple[RateLimit, ...] = ()
    hyperdrive: tuple[Hyperdrive, ...] = ()
    version_metadata: str | None = None

    def classes(self) -> dict[str, str]:
        """The platform's class of each binding, by name."""
        assets = self.assets.binding if self.assets is not None else None
        return {
            **{entry.binding: "Fetcher" for entry in self.services},
            **{entry.binding: "Ratelimit" for entry in self.ratelimits},
            **{entry.binding: "Hyperdrive" for entry in self.hyperdrive},
            **({assets: "Fetcher"} if assets else {}),
            **({self.version_metadata: "Object"} if self.version_metadata else {}),
        }
