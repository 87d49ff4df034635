"""What the surrounding process gives to the modules that worker code imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localedge.binding import EnvWrapper
from localedge.probe import Probe

if TYPE_CHECKING:
    import httpx


class Host:
    """The probe, the env and the HTTP client of this isolate.

    Shape: `env` is what `workers.env` wraps; `transport` replaces the network of `fetch`.
    The client is made when it is first used; `aclose` closes it.
    """

    __slots__ = ("_client", "env", "probe", "transport")

    def __init__(
        self,
        probe: Probe | None = None,
        env: EnvWrapper | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.probe = probe if probe is not None else Probe()
        self.env = env if env is not None else EnvWrapper({}, self.probe)
        self.transport = transport
        self._client: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        """The client of all outgoing requests. Redirects are followed by `fetch`, not by it."""
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(
                transport=self.transport,
                follow_redirects=False,
                timeout=httpx.Timeout(connect=10.0, read=100.0, write=100.0, pool=30.0),
                trust_env=False,
            )
            self._client.headers.clear()
        return self._client

    async def aclose(self) -> None:
        """The client, if there is one, is closed."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


_current: Host | None = None


def set_host(host: Host | None) -> None:
    """`host` is what the modules of this process read from now on."""
    global _current
    _current = host


def host() -> Host:
    """The host of this process.

    Errors: RuntimeError when none was set, for example when a worker's module is imported by
    something other than an isolate.
    """
    if _current is None:
        raise RuntimeError("no host is set: worker code runs in an isolate or under a test host")
    return _current


def current_env() -> Any:
    """The env of this process, as `workers.env` gives it."""
    return host().env
