// Drives the real parts: KV and D1 of workerd by miniflare, and the worker on Pyodide.
//
// Usage: node --experimental-wasm-jspi driver.mjs FOLDER_WITH_NODE_MODULES
//
// Reads one JSON object a line from stdin, {"id", "op", …}, and writes one a line to stdout with the
// same id: {"id", "ok": …} or {"id", "error": {"name", "message"}}. Orders run at the same time;
// their answers come as they are done. Whatever workers and miniflare print goes to stderr. When
// stdin ends, everything that was started ends too. README.md beside this file has the orders.
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { Readable } from "node:stream";
import { answerRequests } from "./http.mjs";
import { bootPython } from "./python.mjs";
import { openStores } from "./stores.mjs";

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
console.log = console.info = console.debug = console.error;

const packages = process.argv[2];
let stores = null;
let python = null;

const orders = {
  async open(order) {
    stores = await openStores(packages, order);
    return stores.versions;
  },
  async boot(order) {
    python = await bootPython(packages, stores, order);
    const { url, token } = await answerRequests(python);
    return { url, token, ...python.versions };
  },
  call: (order) => stores.call(order),
  empty: (order) => stores.empty(order.binding),
  python: (order) => python.run(order.code, order.input ?? null),
  scheduled: (order) => python.scheduled(order.cron ?? "", order.time ?? Date.now()),
  idle: () => python.idle(),
};

async function obey(line) {
  const order = JSON.parse(line);
  let answer;
  try {
    if (!Object.hasOwn(orders, order.op)) throw new TypeError(`There is no order ${order.op}`);
    answer = { id: order.id, ok: (await orders[order.op](order)) ?? null };
  } catch (error) {
    answer = { id: order.id, error: { name: error.name, message: error.message } };
  }
  write(`${JSON.stringify(answer)}\n`);
}

async function end() {
  await stores?.close();
  process.exit(0);
}

// A worker that blocks its loop does not hear that whoever started us is gone: this thread does, and
// kills our process group, which has workerd in it.
const watch = `setInterval(() => {
  if (process.ppid !== ${process.ppid}) process.kill(-process.pid, "SIGKILL");
}, 1000)`;
new Worker(watch, { eval: true }).unref();

// A promise that nobody awaited is the worker's, and no reason to end.
process.on("unhandledRejection", (error) => console.error(error));
process.on("SIGTERM", end);
createInterface({ input: Readable.from(process.stdin) })
  .on("line", obey)
  .on("close", end);
