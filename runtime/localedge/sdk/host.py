"""What the surrounding process gives to the modules that worker code imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from localedge.binding import EnvWrapper
from localedge.probe import Probe

if TYPE_CHECKING:
    import httpx


NEWEST_PYTHON: Final = (3, 14)


class Host:
    """The probe, the env and the network of this isolate.

    Shape: `env` is what `workers.env` reads, raw when `is_legacy`; `python` is the edge's (major,
    minor), which decides what `pyodide.ffi` is like; `transport`, when given, is the network of
    `fetch`. Otherwise one is made when it is first used, and closed by `aclose`.
    """

    __slots__ = ("_made", "env", "is_legacy", "probe", "python", "transport")

    def __init__(
        self,
        probe: Probe | None = None,
        env: EnvWrapper | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        is_legacy: bool = False,
        python: tuple[int, int] = NEWEST_PYTHON,
    ) -> None:
        self.probe = probe if probe is not None else Probe()
        self.env = env if env is not None else EnvWrapper({}, self.probe)
        self.transport = transport
        self.is_legacy = is_legacy
        self.python = python
        self._made: httpx.AsyncBaseTransport | None = None

    def network(self) -> httpx.AsyncBaseTransport:
        """Where requests go. It keeps connections, but neither cookies nor redirects."""
        if self.transport is not None:
            return self.transport
        if self._made is None:
            import httpx

            self._made = httpx.AsyncHTTPTransport(trust_env=False)
        return self._made

    async def aclose(self) -> None:
        """The connections that were made here are closed."""
        made, self._made = self._made, None
        if made is not None:
            await made.aclose()


_hosts: Final[list[Host]] = []
patches: Final[ContextVar[Mapping[str, Any]]] = ContextVar("localedge_env_patches")
"""What `patch_env` laid over the env, in the code that runs inside it."""


def set_host(host: Host | None) -> None:
    """`host` is what the modules of this process read from now on."""
    _hosts[:] = [host] if host is not None else []


def host() -> Host:
    """The host of this process.

    Errors: RuntimeError when none was set, for example when a worker's module is imported by
    something other than an isolate.
    """
    if not _hosts:
        raise RuntimeError("no host is set: worker code runs in an isolate or under a test host")
    return _hosts[0]


def edge_python() -> tuple[int, int]:
    """The (major, minor) of the edge's Python; the newest where no host is set."""
    return _hosts[0].python if _hosts else NEWEST_PYTHON


class CurrentEnv(Mapping[str, Any]):
    """The values of the process's env as of each read, with what `patch_env` laid over it."""

    def __getitem__(self, name: str) -> Any:
        patched = patches.get({})
        return patched[name] if name in patched else host().env._env[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**host().env._env, **patches.get({})})

    def __len__(self) -> int:
        return len(list(iter(self)))


def current_env() -> EnvWrapper:
    """A new wrapper of the process's env, as `workers.env` gives it."""
    return EnvWrapper(CurrentEnv(), host().probe)
