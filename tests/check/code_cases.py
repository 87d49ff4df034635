"""Faults in a worker's Python, one or more per rule."""

from __future__ import annotations

from tests.check.faults import Case, dated, entrypoint, handler, module, worker

TWICE = handler("pass")["src/entry.py"] + "\n\ndef on_fetch(request):  # HERE\n    pass\n"
ABSENT = [
    Case(
        "thread",
        handler("threading.Thread(target=print).start()  # HERE", "import threading"),
        handler("lock = threading.Lock()", "import threading"),
    ),
    Case(
        "thread",
        module("import threading\nclass Job(threading.Thread):  # HERE\n    pass"),
        module("class Thread:\n    pass\nclass Job(Thread):\n    pass"),
    ),
    Case(
        "thread",
        handler(
            "ThreadPoolExecutor(2)  # HERE", "from concurrent.futures import ThreadPoolExecutor"
        ),
        handler("Future()", "from concurrent.futures import Future"),
    ),
    Case(
        "process",
        handler("subprocess.run(['ls'])  # HERE", "import subprocess"),
        handler("subprocess.list2cmdline(['ls'])", "import subprocess"),
    ),
    Case(
        "process",
        handler("os.system('ls')  # HERE", "import os"),
        handler("os.path.join('a', 'b')", "import os"),
    ),
    Case(
        "signal",
        handler("signal.signal(signal.SIGTERM, print)  # HERE", "import signal"),
        handler("print(signal.SIGTERM)", "import signal"),
    ),
    Case(
        "socket",
        handler("await asyncio.start_server(print, port=1)  # HERE", "import asyncio"),
        handler("await asyncio.sleep(0)", "import asyncio"),
    ),
    Case(
        "socket",
        # Python 3.13 has no outgoing sockets; 3.14 has.
        handler("socket.create_connection(('a', 1))  # HERE", "import socket")
        | dated("2026-05-01"),
        handler("socket.create_connection(('a', 1))", "import socket"),
    ),
    Case(
        "event-loop",
        handler("await asyncio.to_thread(print)  # HERE", "import asyncio"),
        handler("await asyncio.wait_for(request.text(), 3)", "import asyncio"),
    ),
    Case(
        "event-loop",
        handler(
            "loop = asyncio.get_running_loop()\nawait loop.run_in_executor(None, print)  # HERE",
            "import asyncio",
        ),
        handler("loop = Machine()\nloop.run(None, print)", "from machine import Machine")
        | {"src/machine.py": "class Machine: ..."},
    ),
    Case(
        "file",
        handler("with open('/tmp/x', 'w') as file:  # HERE\n    file.write('x')"),
        handler("with open('data.json') as file:\n    file.read()"),
    ),
    Case(
        "file",
        handler("Path('x').write_text('x')  # HERE", "from pathlib import Path"),
        handler("Path('x').read_text()", "from pathlib import Path"),
    ),
    Case(
        "process-environment",
        handler("print(os.environ['TOKEN'])  # HERE", "import os"),
        handler("os.environ['TZ'] = 'UTC'", "import os"),
    ),
]
MODULES = [
    Case(
        "missing-module",
        module("import fcntl  # HERE"),
        module("try:\n    import fcntl\nexcept ImportError:\n    fcntl = None"),
    ),
    Case(
        "missing-module",
        module("from tkinter import Tk  # HERE"),
        module("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tkinter import Tk"),
    ),
    Case(
        "stub-module",
        module("import sqlite3  # HERE"),
        module("import sqlite4") | {"src/sqlite4.py": ""},
    ),
    Case("no-edge-build", module("import uvloop  # HERE"), module("import asyncio")),
    Case(
        "undeclared-package",
        module("import httpx  # HERE"),
        module("import httpx")
        | {"pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['httpx']\n"},
    ),
    Case(
        "undeclared-package",
        module("import starlette.routing  # HERE"),
        # Comes along with fastapi.
        module("import starlette.routing")
        | {"pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['fastapi']\n"},
    ),
    Case(
        "not-in-localedge",
        module("import workers.workflow  # HERE"),
        module("import workers.workflows"),
    ),
    Case(
        "not-in-localedge",
        module("import micropip  # HERE"),
        module("import micropip") | {"src/micropip.py": ""},
    ),
    Case(
        "import-root",
        module("from src.prices import total  # HERE") | {"src/prices.py": "total = 1"},
        module("from prices import total") | {"src/prices.py": "total = 1"},
    ),
    Case(
        "relative-import",
        module("from .prices import total  # HERE") | {"src/prices.py": "total = 1"},
        module("from shop import till")
        | {"src/shop/till.py": "from .prices import total\n"}
        | {"src/shop/__init__.py": "", "src/shop/prices.py": "total = 1"}
        | {"src/shop/inner/a.py": "from ..prices import total\n"},
    ),
    Case(
        "socket",
        # Python 3.13 has no outgoing sockets; 3.14 has.
        module("import redis  # HERE") | dated("2026-05-01"),
        module("import redis"),
    ),
    Case(
        "lent-function",
        handler("setTimeout(lambda: None, 5)  # HERE", "from js import setTimeout"),
        handler(
            "wake = create_proxy(lambda: None)\nsetTimeout(wake, 5)",
            "from js import setTimeout\nfrom pyodide.ffi import create_proxy",
        ),
    ),
    Case(
        "lent-function",
        handler(
            "def later(event):\n    pass\nrequest.signal.addEventListener('abort', later)  # HERE"
        ),
        handler(
            "later = self.listener\nrequest.signal.addEventListener('abort', later)\n"
            "await Promise.new(lambda resolve, reject: setTimeout(resolve, 5))",
            "from js import Promise, setTimeout",
        ),
    ),
    Case("syntax", worker("def f(:  # HERE"), worker("def f(): ...\nDefault = f")),
]
IMPORT = [
    Case(
        "import-entropy",
        module("import random\nDICE = random.randint(1, 6)  # HERE"),
        module("import random\nGENERATOR = random.Random(7)\nDICE = GENERATOR.randint(1, 6)"),
    ),
    Case(
        "import-entropy",
        module("from uuid import uuid4\ndef new():\n    return uuid4()  # HERE\nID = new()"),
        module("from uuid import uuid4\ndef new():\n    return uuid4()"),
    ),
    Case(
        "import-entropy",
        module("import secrets\ndef f(*, key=secrets.token_hex()):  # HERE\n    pass"),
        module("import secrets\ndef f(*, key=None):\n    return key or secrets.token_hex()"),
    ),
    Case(
        "import-time",
        module("import time\nclass Clock:\n    started = time.time()  # HERE"),
        module("import time\nclass Clock:\n    now = time.time"),
    ),
    Case(
        "import-io",
        module("import httpx\nRATES = httpx.get('https://example.com')  # HERE"),
        module("import httpx\nCLIENT = httpx.AsyncClient"),
    ),
    Case(
        "import-io",
        module("from workers import env\nFIRST = env.KV.get('first')  # HERE"),
        module("from workers import env\ndef first():\n    return env.KV.get('first')"),
    ),
    Case(
        "import-snapshot",
        module("from pyodide.ffi import to_js\nEMPTY = to_js({})  # HERE"),
        module("from pyodide.ffi import to_js\ndef empty():\n    return to_js({})"),
    ),
    Case(
        "import-snapshot",
        module("from workers import env\nSTORE = env.KV  # HERE"),
        module("from workers import env\nNAME = env.NAME"),
    ),
    Case(
        "import-wait-until",
        module("from workers import wait_until  # HERE"),
        handler("from workers import wait_until"),
    ),
]
HANDLERS = [
    Case(
        "handler-arity",
        entrypoint("async def scheduled(self, controller):  # HERE\n    pass"),
        entrypoint("async def scheduled(self, controller, env, ctx):\n    pass"),
    ),
    Case(
        "handler-arity",
        entrypoint("async def queue(self, batch):  # HERE\n    pass"),
        entrypoint("async def queue(self, *event):\n    pass"),
    ),
    Case(
        "handler-arity",
        entrypoint("async def fetch(self, a, b, c, d):  # HERE\n    return Response('')"),
        entrypoint("async def fetch(self):\n    return Response('')"),
    ),
    Case(
        "handler-env",
        entrypoint("async def fetch(self, request, env):\n    await env.KV.get('a')  # HERE"),
        entrypoint(
            "async def fetch(self, request, env):\n    env = self.env\n    await env.KV.get('a')"
        ),
    ),
    Case(
        "ignored-handler",
        worker("async def on_fetch(request, env):  # HERE\n    pass"),
        entrypoint("async def on_fetch(self, request):\n    pass"),
    ),
    Case(
        "legacy-handler",
        worker("async def on_fetch(request, env):  # HERE\n    pass") | dated("2025-08-13"),
        handler("pass") | dated("2025-08-13"),
    ),
    Case(
        "two-entrypoints",
        {"src/entry.py": TWICE} | dated("2025-08-13"),
        {"src/entry.py": TWICE.replace("on_fetch", "on_start")} | dated("2025-08-13"),
    ),
    Case(
        "two-entrypoints",
        worker(
            """
            from workers import WorkerEntrypoint
            class Default(WorkerEntrypoint): ...
            class Default(WorkerEntrypoint): ...  # HERE
            """
        ),
        worker(
            """
            from workers import WorkerEntrypoint
            class Default(WorkerEntrypoint): ...
            class Admin(WorkerEntrypoint): ...
            """
        ),
    ),
    Case(
        "no-entrypoint",
        worker("# HERE\nclass Shop:\n    pass"),
        worker("from workers import asgi\nDefault = asgi.entrypoint(print)"),
    ),
]
CASES = [*ABSENT, *MODULES, *IMPORT, *HANDLERS]
