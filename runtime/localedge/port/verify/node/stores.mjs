// KV and D1 of workerd, kept in a folder, as objects of the platform's own class names.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { D1Database, KvNamespace } from "./bindings.mjs";
import { decoded, encoded } from "./values.mjs";

const NOBODY = "export default { fetch() { return new Response(null, { status: 404 }); } }";

// `kv` and `d1` map a binding's name to the id of its store in the folder `state`.
export async function openStores(packages, { state, kv = {}, d1 = {}, compatibilityDate }) {
  const require = createRequire(`${packages}/package.json`);
  const { Miniflare } = await import(pathToFileURL(require.resolve("miniflare")));
  const miniflare = new Miniflare(options(state, kv, d1, compatibilityDate));
  await miniflare.ready;
  const found = await miniflare.getBindings();
  const bindings = {};
  for (const name of Object.keys(kv)) bindings[name] = new KvNamespace(found[name], found[twinOf(name)]);
  for (const name of Object.keys(d1)) bindings[name] = new D1Database(found[name]);
  return {
    bindings,
    versions: {
      node: process.versions.node,
      miniflare: require("miniflare/package.json").version,
      workerd: require("workerd/package.json").version,
    },
    call: (order) => call(found, order),
    empty: (binding) => (binding in kv ? emptyKv(found[binding]) : emptyD1(found[binding])),
    close: () => miniflare.dispose(),
  };
}

// The same store once more, under a name that no worker has.
const twinOf = (name) => `${name} twin`;

function options(state, kv, d1, compatibilityDate) {
  const env = {};
  for (const [name, id] of Object.entries(kv)) {
    env[name] = env[twinOf(name)] = { type: "kv", id };
  }
  for (const [name, id] of Object.entries(d1)) env[name] = { type: "d1", id };
  const modules = { "nobody.mjs": { type: "esm", contents: NOBODY } };
  const manifest = { mainModule: "nobody.mjs", modulesRoot: state, modules };
  return {
    host: "127.0.0.1",
    port: 0,
    resourcePersistencePath: state,
    // Nothing is fetched, told or written anywhere else: no facts of a connection, no registry.
    cf: false,
    enableDevRegistry: false,
    telemetry: { enabled: false },
    logRequests: false,
    workers: [{ config: { name: "stores", compatibilityDate, manifest, env, exports: {} } }],
  };
}

// A chain of calls that starts at a binding; each result that is awaitable is awaited.
async function call(found, { binding, chain }) {
  try {
    let value = found[binding];
    for (const [method, args = []] of chain) {
      value = value[method](...args.map((arg) => decoded(arg, found)));
      if (typeof value?.then === "function") value = await value;
    }
    return { returns: await encoded(value) };
  } catch (error) {
    return { raises: { name: error.name, message: error.message } };
  }
}

async function emptyKv(namespace) {
  let cursor;
  do {
    const page = await namespace.list({ cursor });
    await Promise.all(page.keys.map(({ name }) => namespace.delete(name)));
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor !== undefined);
}

async function emptyD1(database) {
  const { results } = await database
    .prepare(
      "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' " +
        "AND name NOT LIKE '~_cf~_%' ESCAPE '~' AND type IN ('view', 'trigger', 'table') " +
        "ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END",
    )
    .all();
  if (results.length === 0) return;
  const drops = results.map(({ type, name }) =>
    database.prepare(`DROP ${type.toUpperCase()} IF EXISTS "${name.replaceAll('"', '""')}"`),
  );
  await database.batch([database.prepare("PRAGMA defer_foreign_keys = on"), ...drops]);
}
