// The worker on Pyodide, with Cloudflare's SDK, over the bindings of the stores.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const BUNDLE = "/session/metadata";
const OURS = "/localedge";

// Node counts the arguments, workerd looks at what they are: the SDK always gives three.
for (const method of ["append", "set"]) {
  const original = FormData.prototype[method];
  FormData.prototype[method] = function (...args) {
    return original.apply(this, args[2] === undefined ? args.slice(0, 2) : args);
  };
}

// What the platform hands to a handler beside the event.
class ExecutionContext {
  #pending;
  props = {};
  constructor(pending) {
    this.#pending = pending;
  }
  waitUntil(promise) {
    // Pyodide takes a coroutine's proxy back at the end of the call that it came with.
    const kept = typeof promise?.copy === "function" ? promise.copy() : promise;
    const done = Promise.resolve(kept)
      .catch((error) => console.error(`waitUntil: ${error.message ?? error}`))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }
  passThroughOnException() {}
}

class ScheduledController {
  constructor(cron, time) {
    this.cron = cron;
    this.scheduledTime = time;
  }
  noRetry() {}
}

// `sites` are folders of packages, `bundle` the worker's, `main` its main module; `flags` maps the
// compatibility flags that the SDK looks at to whether they are set; `cf` is that of each request.
export async function bootPython(packages, stores, order) {
  const began = performance.now();
  const { sites = [], bundle = null, main = null, vars = {}, flags = {}, cf = {} } = order;
  const require = createRequire(`${packages}/package.json`);
  const { loadPyodide, version } = await import(pathToFileURL(require.resolve("pyodide/pyodide.mjs")));
  const pyodide = await loadPyodide({
    indexURL: `${dirname(require.resolve("pyodide/package.json"))}/`,
    stdout: (line) => console.error(line),
    stderr: (line) => console.error(line),
    env: { HOME: "/session", PYTHONHASHSEED: "111", PYTHONDONTWRITEBYTECODE: "1" },
  });
  const env = { ...vars, ...stores.bindings };
  const pending = new Set();
  const makeContext = () => new ExecutionContext(pending);
  registerModules(pyodide, env, flags, makeContext);
  const paths = sites.map((site, index) => mounted(pyodide, `/packages/${index}`, site));
  if (bundle !== null) {
    pyodide.FS.mkdirTree(BUNDLE);
    pyodide.mountNodeFS(BUNDLE, bundle);
  }
  const side = startPython(pyodide, [...(bundle === null ? [] : [BUNDLE]), ...paths]);
  if (main !== null) await side.load(main);
  return {
    versions: {
      pyodide: version,
      python: side.python_version(),
      boot_ms: Math.round(performance.now() - began),
    },
    fetch(request) {
      // Node's requests know nothing of the connection; a copy of the request has none either.
      Object.defineProperty(request, "cf", { value: structuredClone(cf) });
      return side.fetch(request, env, makeContext());
    },
    async scheduled(cron, time) {
      await side.scheduled(new ScheduledController(cron, time), env, makeContext());
      return "ok";
    },
    async run(code, input) {
      return JSON.parse(await side.run(code, JSON.stringify(input), env));
    },
    async idle() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

function mounted(pyodide, inside, outside) {
  pyodide.FS.mkdirTree(inside);
  pyodide.mountNodeFS(inside, outside);
  return inside;
}

// Stand-ins for the two modules that the runtime itself gives to the SDK.
function registerModules(pyodide, env, flags, makeContext) {
  const workers = { env, waitUntil: (promise) => makeContext().waitUntil(promise) };
  pyodide.registerJsModule("_cloudflare_compat_flags", {
    python_workflows_implicit_dependencies: true,
    python_request_headers_preserve_commas: true,
    ...flags,
  });
  pyodide.registerJsModule("_pyodide_entrypoint_helper", {
    cloudflareWorkersModule: workers,
    cloudflareSocketsModule: {},
    doAnImport: (name) => Promise.reject(new Error(`No such module "${name}".`)),
    patchWaitUntil() {},
    *patch_env_helper(patch) {
      const saved = { ...env };
      Object.assign(env, patch);
      try {
        yield;
      } finally {
        for (const name of Object.keys(env)) delete env[name];
        Object.assign(env, saved);
      }
    },
  });
}

function startPython(pyodide, paths) {
  pyodide.FS.mkdirTree(OURS);
  for (const name of ["edge_patches.py", "edge_side.py"]) {
    pyodide.FS.writeFile(`${OURS}/${name}`, readFileSync(`${HERE}/${name}`));
  }
  const start = pyodide.runPython(
    `def start(paths, ours):
         import sys
         sys.path[:0] = [ours, *paths]
         import edge_patches
         edge_patches.install()
         import edge_side
         return edge_side
     start`.replaceAll(/^ {5}/gm, ""),
  );
  return start(paths, OURS);
}
