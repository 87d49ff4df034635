"""The control endpoints under `/cdn-cgi/`: what the command line and the page ask and order."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from localedge.supervisor.isolates import Isolate
from localedge.supervisor.supervisor import Supervisor

PREFIX = "/cdn-cgi/localedge"


def control(supervisor: Supervisor) -> Starlette:
    """The application that answers control requests about `supervisor`."""

    async def status(_request: Request) -> Response:
        return JSONResponse(
            {
                "workers": [
                    {
                        "name": pool.project.name,
                        "generation": pool.current.number,
                        "failure": pool.failure.text if pool.failure else None,
                        "isolates": [_shown(i) for i in pool.isolates()],
                    }
                    for pool in supervisor.pools
                ]
            }
        )

    async def kill(request: Request) -> Response:
        given = request.query_params.get("pid")
        if given is not None and not given.isdigit():
            raise HTTPException(400, "pid is not a number")
        killed = supervisor.kill(int(given) if given is not None else None)
        if killed is None:
            raise HTTPException(404, "there is no such isolate")
        return JSONResponse({"killed": killed})

    return Starlette(
        routes=[
            Route(f"{PREFIX}/status", status),
            Route(f"{PREFIX}/kill", kill, methods=["POST"]),
        ]
    )


def _shown(isolate: Isolate) -> dict[str, object]:
    return {
        "pid": isolate.pid,
        "generation": isolate.generation,
        "in_flight": len(isolate.exchanges),
        "served": isolate.served,
    }
