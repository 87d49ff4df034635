// The same logic as bench/worker/entry.py.
const SELECT = "SELECT id, name, value FROM items WHERE id = ?";
const INSERT = "INSERT INTO log (name, value) VALUES (?, ?)";

async function setUp(env) {
  await env.KV.put("key", "v".repeat(100));
  await env.DB.exec("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT, value REAL)");
  await env.DB.exec("CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, name TEXT, value REAL)");
  const insert = env.DB.prepare("INSERT OR REPLACE INTO items VALUES (?, ?, ?)");
  await env.DB.batch(Array.from({ length: 100 }, (_, i) => insert.bind(i, `name ${i}`, i / 2)));
  return new Response("ready");
}

let turn = 0;
const routes = {
  "/set-up": setUp,
  "/hello": async () => new Response("hello"),
  "/kv-get": async (env) => new Response(await env.KV.get("key")),
  "/kv-put": async (env) => {
    await env.KV.put(`key-${turn++ % 1000}`, "v".repeat(100));
    return new Response("stored");
  },
  "/d1-select": async (env) => Response.json(await env.DB.prepare(SELECT).bind(turn++ % 100).first()),
  "/d1-insert": async (env) => {
    await env.DB.prepare(INSERT).bind("name", 1.5).run();
    return new Response("inserted");
  },
  "/d1-batch-100": async (env) => {
    const insert = env.DB.prepare(INSERT);
    await env.DB.batch(Array.from({ length: 100 }, (_, i) => insert.bind("name", i)));
    return new Response("inserted");
  },
  "/operations-500": async (env) => {
    for (let i = 0; i < 250; i++) {
      await env.KV.get("key");
      await env.DB.prepare(SELECT).bind(i % 100).first();
    }
    return new Response("done");
  },
};

export default {
  async fetch(request, env) {
    const route = routes[new URL(request.url).pathname];
    return route ? route(env) : new Response("no such route", { status: 404 });
  },
};
