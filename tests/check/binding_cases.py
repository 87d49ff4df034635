"""Faults in calls of bindings, in migrations and in the configuration."""

from __future__ import annotations

import json

from tests.check.faults import Case, config, handler, migration, pyproject

CROSSING = [
    Case(
        "tuple-argument",
        handler("await self.env.DB.prepare('SELECT ?').bind((1, 2)).first()  # HERE"),
        handler("await self.env.DB.prepare('SELECT ?, ?').bind(*(1, 2)).first()"),
    ),
    Case(
        "tuple-argument",
        handler("kv = self.env.KV\nawait kv.put('a', 'b', metadata={'at': (1, 2)})  # HERE"),
        handler("kv = self.env.KV\nawait kv.put('a', json.dumps((1, 2)))", "import json"),
    ),
    Case(
        "tuple-argument",
        handler("value = bytearray(8)\nawait self.env.KV.put('a', value)  # HERE"),
        handler("value = bytes(bytearray(8))\nawait self.env.KV.put('a', value)"),
    ),
]
KV = [
    Case(
        "listing-keys",
        handler("page = await self.env.KV.list()\nfor key in page.keys:  # HERE\n    print(key)"),
        handler("page = await self.env.KV.list()\nfor key in page['keys']:\n    print(key)"),
    ),
    Case(
        "listing-keys",
        handler("print((await self.env.KV.list()).keys)  # HERE"),
        handler("page = await self.env.KV.list()\nprint(page.keys())"),
    ),
    Case(
        "kv-ttl",
        handler("await self.env.KV.put('a', 'b', expirationTtl=30)  # HERE"),
        handler("await self.env.KV.put('a', 'b', expirationTtl=60)"),
    ),
    Case(
        "kv-ttl",
        handler("await self.env.KV.put('a', 'b', {'expirationTtl': TTL_S})  # HERE", "TTL_S = 5"),
        handler("await self.env.KV.put('a', 'b', {'expirationTtl': TTL_S})", "TTL_S = 5 * 60"),
    ),
    Case(
        "kv-ttl",
        handler("await self.env.KV.get('a', cacheTtl=10)  # HERE"),
        handler("await self.env.KV.get('a', cacheTtl=30)"),
    ),
    Case(
        "kv-option-name",
        handler("await self.env.KV.put('a', 'b', expiration_ttl=60)  # HERE"),
        handler("await self.env.FILES.put('a', 'b', ttl=60)"),
    ),
    Case(
        "kv-lock",
        handler("await self.env.KV.put(f'lock:{request.url}', '1')  # HERE"),
        handler("await self.env.KV.put(f'block:{request.url}', '1')"),
    ),
    Case(
        "kv-counter",
        handler(
            """
            count = int(await self.env.KV.get('visits') or 0)
            await self.env.KV.put('visits', str(count + 1))  # HERE
            """
        ),
        handler(
            """
            count = int(await self.env.KV.get('visits') or 0)
            await self.env.KV.put('seen', str(count + 1))
            """
        ),
    ),
    Case(
        "kv-index",
        handler(
            """
            names = await self.env.KV.get('names', type='json') or []
            names.append('x')
            await self.env.KV.put('names', json.dumps(names))  # HERE
            """,
            "import json",
        ),
        handler(
            """
            names = ['y']
            names.append('x')
            await self.env.KV.put('names', json.dumps(names))
            """,
            "import json",
        ),
    ),
    Case(
        "kv-read-modify-write",
        handler(
            """
            text = await self.env.KV.get('log')
            await self.env.KV.put('log', f'{text} and more')  # HERE
            """
        ),
        # A cache that is filled, and a value that is written again as it was.
        handler(
            """
            text = await self.env.KV.get('log')
            if text is None:
                await self.env.KV.put('log', await request.text())
            else:
                await self.env.KV.put('log', text, expirationTtl=600)
            """
        ),
    ),
    Case(
        "kv-write-rate",
        handler("for item in 'abc':\n    await self.env.KV.put('last', item)  # HERE"),
        handler("for item in 'abc':\n    await self.env.KV.put(f'item:{item}', item)"),
    ),
    Case(
        "kv-write-rate",
        handler(
            """
            await self.env.KV.put('state', 'begun')
            await request.text()
            await self.env.KV.put('state', 'done')  # HERE
            """
        ),
        handler(
            """
            if request.method == 'PUT':
                await self.env.KV.put('state', 'begun')
            else:
                await self.env.KV.put('state', 'done')
            """
        ),
    ),
    Case(
        "kv-write-rate",
        handler("while True:\n    await self.env.KV.put('beat', '1')  # HERE"),
        handler(
            "while True:\n    await self.env.KV.put('beat', '1')\n    await asyncio.sleep(5)",
            "import asyncio",
        ),
    ),
]
_NAMES = ", ".join(f"c{number}" for number in range(101))
D1 = [
    Case(
        "in-list",
        handler(
            "sql = 'SELECT * FROM notes WHERE id IN (?)'\nids = [1, 2]\n"
            "await self.env.DB.prepare(sql).bind(ids).all()  # HERE"
        ),
        handler(
            "sql = 'SELECT * FROM notes WHERE id IN (?)'\n"
            "await self.env.DB.prepare(sql).bind(request.url).all()"
        ),
    ),
    Case(
        "exec-lines",
        handler("await self.env.DB.exec(SQL)  # HERE", 'SQL = """CREATE TABLE t (\n  a)"""'),
        handler(
            "await self.env.DB.exec(SQL)",
            'SQL = """CREATE TABLE t (a);\nINSERT INTO t VALUES (1);\n"""',
        ),
    ),
    Case(
        "number-in-text",
        handler(
            "await self.env.DB.prepare('INSERT INTO notes (size, title) VALUES (?, ?)')"
            ".bind(1, 2).run()  # HERE"
        ),
        handler(
            "await self.env.DB.prepare('INSERT INTO notes (size, title) VALUES (?, ?)')"
            ".bind(1, str(2)).run()"
        ),
    ),
    Case(
        "number-in-text",
        handler(
            "await self.env.DB.prepare('SELECT * FROM notes WHERE size > ? AND title = ?')"
            ".bind(1, len(request.url)).all()  # HERE"
        ),
        handler(
            "await self.env.DB.prepare('SELECT * FROM notes WHERE title = ? AND size = ?')"
            ".bind('a', len(request.url)).all()"
        ),
    ),
    Case(
        "sql-limit",
        handler(
            "await self.env.DB.prepare(SQL).all()  # HERE",
            f"SQL = '{' UNION '.join(['SELECT 1'] * 6)}'",
        ),
        handler(
            "await self.env.DB.prepare(SQL).all()",
            f"SQL = '{' UNION '.join(['SELECT 1'] * 5)}'",
        ),
    ),
    Case(
        "sql-limit",
        handler(
            "await self.env.DB.prepare(SQL).all()  # HERE",
            f"SQL = 'SELECT * FROM notes WHERE id IN ({', '.join('?' * 101)})'",
        ),
        handler(
            "await self.env.DB.prepare(SQL).all()",
            f"SQL = 'SELECT * FROM notes WHERE id IN ({', '.join('?' * 100)})'",
        ),
    ),
    Case(
        "sql-limit",
        handler(
            "await self.env.DB.prepare(SQL).all()  # HERE",
            f"""SQL = "SELECT * FROM notes WHERE title LIKE '{"x" * 51}'\"""",
        ),
        handler(
            "await self.env.DB.prepare(SQL).all()",
            f"""SQL = "SELECT * FROM notes WHERE title LIKE '{"x" * 50}'\"""",
        ),
    ),
    Case(
        "sql-refused",
        handler("await self.env.DB.prepare('BEGIN').run()  # HERE"),
        handler("await self.env.DB.prepare('SELECT 1').run()"),
    ),
    Case(
        "sql-refused",
        handler("await self.env.DB.prepare('PRAGMA journal_mode=WAL').run()  # HERE"),
        handler("await self.env.DB.prepare('PRAGMA table_list').run()"),
    ),
]
MIGRATIONS = [
    Case(
        "migration-foreign-keys",
        migration("-- a\nPRAGMA foreign_keys = OFF; -- HERE\n"),
        migration("-- a\nPRAGMA foreign_keys = ON;\nPRAGMA defer_foreign_keys = on;\n"),
    ),
    Case(
        "migration-semicolon",
        migration("CREATE TABLE a (b);\nCREATE TABLE c (d) -- HERE\n"),
        migration("CREATE TABLE a (b);\nCREATE TABLE c (d); -- the end\n"),
    ),
    Case(
        "migration-transaction",
        migration("BEGIN; -- HERE\nCREATE TABLE a (b);\n"),
        migration("BEGIN TRANSACTION;\nCREATE TABLE a (b);\nCOMMIT;\n"),
    ),
    Case(
        "migration-transaction",
        migration("CREATE TABLE a (b);\nSAVEPOINT x; -- HERE\n"),
        migration(
            "CREATE TRIGGER t AFTER INSERT ON notes\nBEGIN\n  DELETE FROM notes;\nEND;\n"
            "-- BEGIN; of the rest\n"
        ),
    ),
    Case(
        "migration-fails",
        migration(f"CREATE TABLE a (b);\nCREATE TABLE wide ({_NAMES}); -- HERE\n"),
        migration(f"CREATE TABLE a (b);\nCREATE TABLE wide ({_NAMES.rpartition(',')[0]});\n"),
    ),
]


def _crons(count: int) -> str:
    return json.dumps({"crons": ["0 * * * *"] * count})


OWN = """name = "shop"
main = "src/entry.py"
compatibility_date = "2026-10-01"
compatibility_flags = ["python_workers"]
"""
SETTINGS = [
    Case(
        "worker-name",
        config('"name": "shop",', '"name": "", // HERE'),
        config('"name": "shop",', '"name": "s",'),
    ),
    Case(
        "compatibility-date",
        config('  "compatibility_date": "2026-10-01",\n', ""),
        config('"2026-10-01"', '"2026-10-02"'),
        line=("wrangler.jsonc", 1),
    ),
    Case(
        "old-sdk",
        config('"compatibility_date": "2026-10-01",', '"compatibility_date": "2026-04-20", //HERE'),
        config('"2026-10-01"', '"2026-04-21"'),
    ),
    Case(
        "sdk-not-vendored",
        config('"compatibility_date": "2026-10-01",', '"compatibility_date": "2026-10-01", // HERE')
        | pyproject(', "workers-runtime-sdk"', ""),
        pyproject('["workers-py", "workers-runtime-sdk"]', '["workers-runtime-sdk>=1.9"]'),
    ),
    Case(
        "cron",
        config('"r2_', '"triggers": { "crons": ["0 0 * * 0"] }, // HERE\n"r2_'),
        config('"r2_', '"triggers": { "crons": ["0 0 * * 1"] },\n"r2_'),
    ),
    Case(
        "cron-count",
        config('"kv_namespaces"', f'"triggers": {_crons(251)}, // HERE\n"kv_namespaces"'),
        config('"kv_namespaces"', f'"triggers": {_crons(250)},\n"kv_namespaces"'),
    ),
    Case(
        "cpu-limit",
        config('"kv_namespaces"', '"limits": { "cpu_ms": 300001 }, // HERE\n"kv_namespaces"'),
        config('"kv_namespaces"', '"limits": { "cpu_ms": 300000 },\n"kv_namespaces"'),
    ),
    Case(
        "vars-limit",
        config('"kv_namespaces"', f'"vars": {{ "A": "{"x" * 5121}" }}, // HERE\n"kv_namespaces"'),
        config('"kv_namespaces"', f'"vars": {{ "A": "{"x" * 5120}" }},\n"kv_namespaces"'),
    ),
    Case(
        "two-configs",
        config('{\n  "name": "shop",', '{ // HERE\n  "name": "shop",')
        | {"wrangler.toml": 'name = "shop"\n'},
        # Our own file beside wrangler's is what it is for.
        {"wrangler_like.toml": OWN},
    ),
    Case(
        "config",
        config('"name": "shop",', '"name": "shop", "nmae": "x", // HERE'),
        config('"name": "shop",', '"name": "shop", "account_id": "x",'),
    ),
]
PACKAGES = [
    Case(
        "pyproject",
        {"pyproject.toml": "# HERE\n[project\n"},
        {"pyproject.toml": "# nothing\n"},
    ),
    Case(
        "package-pin",
        pyproject("dependencies = []", 'dependencies = ["pydantic>=2.13"] # HERE'),
        pyproject("dependencies = []", 'dependencies = ["pydantic>=2.12"]'),
    ),
    Case(
        "package-version",
        pyproject("dependencies = []", 'dependencies = ["pydantic"] # HERE'),
        pyproject("dependencies = []", 'dependencies = ["pydantic-core"]'),
    ),
    Case(
        "no-edge-build",
        pyproject("dependencies = []", 'dependencies = [\n  "asyncpg>=0.30", # HERE\n]'),
        pyproject("dependencies = []", "dependencies = [\"uvloop; sys_platform == 'linux'\"]"),
    ),
    Case(
        "python-version",
        pyproject('requires-python = ">=3.12"', 'requires-python = ">=3.12,<3.14" # HERE'),
        pyproject('requires-python = ">=3.12"', 'requires-python = ">=3.14"'),
    ),
    Case(
        "requirements-txt",
        {"requirements.txt": "httpx # HERE\n"},
        {"requirements-dev.txt": "httpx\n"},
    ),
]
SILENCES = [
    Case(
        "silence-without-reason",
        handler("pass  # localedge: ignore[thread]"),
        handler("pass  # localedge: ignore[thread] it is never called"),
        line=("src/entry.py", 6),
    ),
    Case(
        "silence-unknown-rule",
        handler("pass  # localedge: ignore[threads] because HERE"),
        handler("pass  # localedge: ignore[thread] because"),
    ),
]
CASES = [*CROSSING, *KV, *D1, *MIGRATIONS, *SETTINGS, *PACKAGES, *SILENCES]
