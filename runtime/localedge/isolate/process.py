"""The life of an isolate's process, from the fork to its end."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import socket
import sys
import time
from contextlib import AsyncExitStack
from typing import Final

import uvloop

from localedge.errors import OperatorError
from localedge.isolate import console, lifeline
from localedge.isolate.boot import Boot, NotReady, Ready
from localedge.isolate.calls import Calls
from localedge.isolate.environment import open_env
from localedge.isolate.failures import Failure
from localedge.isolate.moved_clock import MovedClock
from localedge.isolate.ownership import task_factory
from localedge.isolate.packages import add_packages
from localedge.isolate.recorder import Recorder
from localedge.isolate.secrets import Mask
from localedge.isolate.serving import Serving
from localedge.isolate.strictness import tighten
from localedge.isolate.tool_calls import observe_tools, share_traces
from localedge.isolate.tracebacks import failure_of
from localedge.isolate.trail import keep_trail
from localedge.isolate.wire import NOTE, Channel, Frame
from localedge.isolate.world import world_of
from localedge.jsproxy import show_null_as
from localedge.probe import Probe
from localedge.sdk import nested_run
from localedge.sdk.dispatch import load_worker
from localedge.sdk.host import Host, set_host
from localedge.sdk.lacking import hinting

logger = logging.getLogger(__name__)

BOOT_DEADLINE_S: Final = 60.0
NET_BYTES: Final = 4 * 1024**3
"""How far above `memory_mb` the address space ends: the limit itself is polled."""


def run(control: socket.socket, log: socket.socket, parent_pid: int) -> None:
    """Serve events that come over `control` until it closes. Called in a fresh fork."""
    lifeline.tie_to(parent_pid)
    # The platform's zone is UTC whatever the machine's is.
    os.environ["TZ"] = "UTC"
    time.tzset()
    gc.enable()
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(_live(control, log))


class _Life:
    """The channel and what is waited for on it."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.booted: asyncio.Future[Boot] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.serving: Serving | None = None
        self.recorder: Recorder | None = None
        self.is_watched = False
        self.probe = Probe()
        self.clock = MovedClock()
        self.channel = Channel(self._received, self._closed)
        self.calls = Calls(self.channel.send)

    def record(self, boot: Boot, log: socket.socket, mask: Mask) -> None:
        """Calls leave a trail, and are recorded when somebody looks."""
        pid, generation = os.getpid(), boot.generation
        self.recorder = Recorder(self.probe, log, pid=pid, generation=generation, mask=mask)
        self.recorder.watch(self.is_watched)
        keep_trail(self.probe.tally, boot.state)

    def _received(self, frame: Frame) -> None:
        if frame[0] != NOTE:
            if frame[1] < 0:
                self.calls.received(frame)
            elif self.serving is not None:
                self.serving.received(frame)
            return
        _, _, name, value = frame
        if name == "ping":
            tally = self.probe.tally
            self.channel.send((NOTE, 0, "pong", tally.rows() if tally.has_news else None))
        elif name == "clock":
            self.clock.move(value)
        elif name == "watch":
            self.is_watched = bool(value)
            if self.recorder is not None:
                self.recorder.watch(self.is_watched)
        elif name == "block":
            # Of all that runs here nothing runs on: that is what it is for.
            time.sleep(float(value))
        elif name == "boot":
            boot = Boot.model_validate_json(value)
            self.is_watched = boot.is_watched
            self.booted.set_result(boot)
        elif name == "stop" and not self.ended.done():
            self.ended.set_result(None)

    def _closed(self, _error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


async def _live(control: socket.socket, log: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    life = _Life()
    control.setblocking(False)
    await loop.create_unix_connection(lambda: life.channel, sock=control)
    async with asyncio.timeout(BOOT_DEADLINE_S):
        boot = await life.booted
    started = time.perf_counter()
    passwords = (drive.password for drive in boot.project.attached.hyperdrive)
    mask = Mask((*boot.project.secrets.values(), *passwords))
    console.install(log, pid=os.getpid(), generation=boot.generation, mask=mask)
    life.clock.move(boot.clock_offset_s)
    _limit_memory(boot.project.local.memory_mb)
    async with AsyncExitStack() as stack:
        try:
            await _load(life, boot, stack, mask, log, started)
        except OperatorError as error:
            failure = Failure(kind=error.code, message=str(error), text=str(error))
            life.channel.send((NOTE, 0, "failed", NotReady(failure=failure).model_dump_json()))
        except BaseException as error:  # noqa: BLE001  (the boundary of worker code)
            failure = failure_of(error, mask)
            life.channel.send((NOTE, 0, "failed", NotReady(failure=failure).model_dump_json()))
        await life.ended


async def _load(
    life: _Life,
    boot: Boot,
    stack: AsyncExitStack,
    mask: Mask,
    log: socket.socket,
    started: float,
) -> None:
    assert boot.project.main is not None
    probe = life.probe
    life.record(boot, log, mask)
    env = await open_env(stack, boot, probe, life.calls)
    world = world_of(boot.project)
    if world.python < (3, 13):
        show_null_as(None)
    host = Host(probe, env, is_legacy=world.is_legacy, python=world.python)
    set_host(host)
    stack.push_async_callback(host.aclose)
    sys.argv[:] = [str(boot.project.main)]
    add_packages(boot.project.root)
    loop = asyncio.get_running_loop()
    if world.python >= (3, 13):
        nested_run.install(loop)
    with hinting(boot.project.bundle), tighten(boot.project, probe):
        worker = load_worker(
            boot.project.main,
            is_legacy=world.is_legacy,
            allows_global_handlers=world.allows_global_handlers,
        )
    observe_tools(probe)
    share_traces()
    loop.set_task_factory(task_factory)
    life.serving = Serving(worker, env, life.channel, mask)
    ready = Ready(
        handlers=tuple(sorted(worker.handlers())),
        warnings=worker.warnings,
        boot_ms=(time.perf_counter() - started) * 1000,
    )
    life.channel.send((NOTE, 0, "ready", ready.model_dump_json()))


def _limit_memory(memory_mb: int) -> None:
    """The address space ends far above the limit, so that a runaway ends before the machine."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        net = memory_mb * 1024 * 1024 + NET_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (net, net))
