"""The process that forks isolates and starts Valkey, and leaves none of them behind.

Started with `-m` in a session of its own; single-threaded, so that a fork is whole. It imports
what every isolate needs, freezes its heap, and then acts on what comes over its control socket:

from the supervisor  ("fork", token) + its socket  ("run", token, argv)  ("kill", pid, signal)
                     ("remove", path)  ("lock",) + the state lock's descriptor
to the supervisor    ("started", token, pid)  ("failed", token, text)  ("exited", pid, status)

When the socket closes it kills by pid all that it started, removes the paths that it was given,
and leaves. Messages are msgpack; on macOS, which has no SEQPACKET, they follow each other in a
stream, hence the unpacker.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
from collections import deque
from typing import Any, Final, NoReturn

from localedge.isolate import lifeline
from localedge.isolate.preload import Preload
from localedge.isolate.wire import Items, pack

_MOST_DESCRIPTORS: Final = 8
_MESSAGE_BYTES: Final = 64 * 1024
_LOG_DEADLINE_S: Final = 2.0


class ForkServer:
    """The loop of this process."""

    def __init__(self, control: socket.socket, log: socket.socket) -> None:
        self._control = control
        self._log = log
        self._lock: int | None = None
        self._children: set[int] = set()
        self._paths: list[str] = []
        self._items = Items()
        self._descriptors: deque[int] = deque()
        self._preload = Preload()
        self._wake_in, self._wake_out = socket.socketpair()
        for end in (self._wake_in, self._wake_out):
            end.setblocking(False)

    def serve(self) -> None:
        """Returns when the supervisor is gone; nothing that was started is left then."""
        signal.set_wakeup_fd(self._wake_out.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake_in, select.POLLIN)
        try:
            while True:
                # What is asked for at once (Valkey) does not wait for all imports.
                events = poll.poll(self._preload.wait_ms)
                if not events:
                    self._preload.step()
                for descriptor, _ in events:
                    if descriptor == self._wake_in.fileno():
                        self._reap()
                    elif not self._receive():
                        return
        finally:
            self._end_all()

    def _receive(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(
                self._control, _MESSAGE_BYTES, _MOST_DESCRIPTORS
            )
        except ConnectionError:
            return False
        if not data:
            return False
        self._descriptors.extend(descriptors)
        for message in self._items.feed(data):
            self._act(message)
        return True

    def _act(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("lock",):
                # Shared with the supervisor: the state is free only when all that was started
                # here is gone.
                self._lock = self._descriptors.popleft()
            case ("fork", token):
                self._fork(token, self._descriptors.popleft())
            case ("run", token, argv):
                self._run(token, argv)
            case ("kill", pid, number) if pid in self._children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            case ("remove", path):
                self._paths.append(path)

    def _fork(self, token: int, descriptor: int) -> None:
        self._preload.until_forkable()
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(descriptor)
            self._tell("failed", token, str(error))
            return
        if pid == 0:
            self._become_isolate(socket.socket(fileno=descriptor), parent)
        os.close(descriptor)
        self._started(token, pid)

    def _become_isolate(self, channel: socket.socket, parent: int) -> NoReturn:
        status = 1
        try:
            self._leave_the_server()
            from localedge.isolate import process

            process.run(channel, self._log, parent)
            status = 0
        except SystemExit:
            pass
        except BaseException:  # noqa: BLE001  (the boundary of a process)
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _run(self, token: int, argv: tuple[str, ...]) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._leave_the_server()
                lifeline.tie_to(parent)
                os.execvp(argv[0], list(argv))
            finally:
                os._exit(127)
        self._started(token, pid)

    def _leave_the_server(self) -> None:
        """What a child must not share with this process."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        for end in (self._control, self._wake_in, self._wake_out):
            end.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        if self._lock is not None:
            os.close(self._lock)

    def _started(self, token: int, pid: int) -> None:
        self._children.add(pid)
        self._tell("started", token, pid)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wake_in.recv(4096)
        while self._children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._children.discard(pid)
            self._tell("exited", pid, os.waitstatus_to_exitcode(status))

    def _tell(self, *message: object) -> None:
        # A supervisor that is gone shows itself when the socket is read next.
        with contextlib.suppress(OSError):
            self._control.sendall(pack(message))

    def _end_all(self) -> None:
        for pid in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in self._children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        for path in self._paths:
            shutil.rmtree(path, ignore_errors=True)


def main() -> None:
    """Serve on the descriptors named on the command line: control socket, log socket."""
    control, log = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    for end in (control, log):
        end.set_inheritable(False)
    log.settimeout(_LOG_DEADLINE_S)
    ForkServer(control, log).serve()


if __name__ == "__main__":
    main()
