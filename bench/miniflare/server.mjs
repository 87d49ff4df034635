// The bench worker on miniflare. Usage: node server.mjs STATE_FOLDER [WORKER_FILE]
// Prints one line of JSON ({"url": …}) when it serves; an edit of WORKER_FILE reloads it.
import { readFileSync, watch } from "node:fs";
import { Miniflare } from "miniflare";

const [state, workerFile = new URL("worker.mjs", import.meta.url).pathname] = process.argv.slice(2);
const options = () => ({
  port: 0,
  host: "127.0.0.1",
  modules: true,
  script: readFileSync(workerFile, "utf8"),
  compatibilityDate: "2026-07-01",
  kvNamespaces: ["KV"],
  d1Databases: ["DB"],
  kvPersist: `${state}/kv`,
  d1Persist: `${state}/d1`,
});

const miniflare = new Miniflare(options());
const url = await miniflare.ready;
console.log(JSON.stringify({ url: url.href, pid: process.pid }));
watch(workerFile, () => miniflare.setOptions(options()).catch((error) => console.error(error)));
process.on("SIGTERM", async () => {
  await miniflare.dispose();
  process.exit(0);
});
