// Isolates: a card for each, with what it uses drawn over time; and those that are gone.
import { $, act, api, bytes, clockTime, duration, el, follow, notice, span, svg } from "./app.js";
import { callName } from "./story.js";
import { pathOf } from "./paths.js";

const PAUSE_MS = 1000;
const SAMPLES = 60;
const MOST_SHOWN = 5; // requests in flight of one isolate
const cards = new Map(); // pid → its card
const samples = new Map(); // pid → [{at, cpu_s, cpu, memory}]
let endedShown = "";

async function refresh() {
  const state = await api("isolates");
  for (const worker of state.workers) for (const one of worker.isolates) sample(one, state.now);
  drawWorkers(state);
  drawEnded(state);
}

function sample(one, now) {
  const kept = samples.get(one.pid) ?? [];
  const last = kept.at(-1);
  const cpu = last && one.cpu_s !== null && now > last.at
    ? Math.max(0, (one.cpu_s - last.cpu_s) / ((now - last.at) / 1000)) : 0;
  kept.push({ at: now, cpu_s: one.cpu_s, cpu, memory: one.memory_bytes ?? 0 });
  samples.set(one.pid, kept.slice(-SAMPLES));
}

function drawWorkers(state) {
  const alive = new Set();
  state.workers.forEach((worker, n) => {
    const { node, grid } = sectionOf(worker, n);
    for (const one of worker.isolates) {
      alive.add(one.pid);
      const shown = cards.get(one.pid) ?? newCard(one);
      shown.update(one, worker);
      if (shown.node.parentNode !== grid) grid.append(shown.node);
    }
    if (!node.isConnected) $("workers").append(node);
  });
  for (const [pid, shown] of cards) {
    if (alive.has(pid)) continue;
    shown.node.remove();
    cards.delete(pid);
    samples.delete(pid);
  }
}

const sections = new Map();
function sectionOf(worker, n) {
  let section = sections.get(n);
  if (!section) {
    const grid = el("div", { class: "cards" });
    const generation = el("span", { class: "dim" });
    const failure = el("div", { class: "exception", hidden: true });
    const node = el("section", { class: "worker-isolates" },
      el("h2", {}, worker.name, " ", generation), failure, grid);
    section = { node, grid, generation, failure };
    sections.set(n, section);
    if (n === 0) $("workers").replaceChildren();
  }
  section.generation.textContent = `generation ${worker.generation}`;
  section.failure.hidden = !worker.failure;
  section.failure.replaceChildren(...(worker.failure
    ? [el("h3", {}, "The newest version cannot be loaded"), el("pre", {}, worker.failure)] : []));
  return section;
}

/** The card of an isolate. Its buttons stay the same while what it shows changes: one can click. */
function newCard(one) {
  const badge = el("span", { class: "badge" });
  const values = el("dl", { class: "facts" });
  const meters = el("div", { class: "meters" });
  const inFlight = el("ul", { class: "in-flight", "aria-label": "Requests in flight" });
  const drain = button(one, "drain", "Drain", "", "It gets no more requests and ends with its last one");
  const node = el("article", { class: "card isolate", dataset: { pid: one.pid } },
    el("header", {}, el("h3", {}, `pid ${one.pid}`), badge), values, meters, inFlight,
    el("div", { class: "bar" },
      button(one, "kill", "Kill", "danger", "SIGKILL: what it has in flight gets a 500"), drain,
      button(one, "block", "Block 5 s", "", "Its event loop stands still for 5 seconds")));
  const update = (now, worker) => {
    node.dataset.state = badge.textContent = badge.dataset.tone = now.state;
    if (now.blocked_s) {
      badge.textContent = `stands still, ${Math.ceil(now.blocked_s)} s`;
      badge.dataset.tone = "warn";
    }
    inFlight.replaceChildren(...now.requests.slice(0, MOST_SHOWN).map(requestOf));
    if (now.requests.length > MOST_SHOWN) {
      inFlight.append(el("li", { class: "dim" }, `… and ${now.requests.length - MOST_SHOWN} more`));
    }
    drain.hidden = now.state === "draining";
    values.replaceChildren(fact("Generation", now.generation), fact("Age", span(now.age_s)),
      fact("In flight", now.in_flight), fact("Served", now.served));
    if (now.location) values.append(fact("Location", now.location));
    meters.replaceChildren(...metersOf(now, worker));
  };
  const shown = { node, update };
  cards.set(one.pid, shown);
  return shown;
}

function requestOf(one) {
  const name = one.url ? `${one.method} ${pathOf(one.url)}` : one.ray;
  return el("li", {}, el("a", { href: `./../#${one.ray}` }, name),
    el("span", { class: "took" }, span(one.age_s)));
}

function metersOf(one, worker) {
  const seen = samples.get(one.pid) ?? [];
  const near = Math.min(worker.edge_memory_bytes, worker.memory_limit_bytes);
  return [
    meter("Memory", bytes(one.memory_bytes), seen.map((s) => s.memory), near,
      one.memory_bytes > near ? "warn" : "good",
      `the edge ends an isolate at ${bytes(worker.edge_memory_bytes)}`),
    meter("CPU", `${Math.round((seen.at(-1)?.cpu ?? 0) * 100)} %`, seen.map((s) => s.cpu), 1, "good",
      `${duration((one.cpu_s ?? 0) * 1000)} so far`),
  ];
}

function fact(name, value) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value));
}

function meter(name, text, values, most, tone, title) {
  const top = Math.max(most, ...values) || 1;
  const step = 100 / (SAMPLES - 1);
  const start = 100 - (values.length - 1) * step;
  const points = values.map((value, n) =>
    `${(start + n * step).toFixed(2)},${(28 - (value / top) * 26).toFixed(2)}`);
  return el("figure", { class: "meter", title, dataset: { tone } },
    el("figcaption", {}, el("span", {}, name), el("b", {}, text)),
    svg("svg", { viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 100, y1: 28 - (most / top) * 26, y2: 28 - (most / top) * 26, class: "limit" }),
      points.length > 1 ? svg("polygon", { points: `${start},28 ${points.join(" ")} 100,28`, class: "area" }) : null,
      svg("polyline", { points: points.join(" "), class: "curve" })));
}

const LABELS = { kill: "Kill", drain: "Drain", block: "Block for 5 s" };
const DONE = {
  kill: (pid) => `Killed isolate ${pid}.`,
  drain: (pid) => `Isolate ${pid} gets no more requests.`,
  block: (pid) => `Isolate ${pid} stands still for 5 seconds.`,
};

function button(one, what, text, kind, title) {
  const made = el("button", { type: "button", class: kind, title, dataset: { do: what },
    "aria-label": `${LABELS[what]} isolate ${one.pid}`,
    onclick: () => act(made, async () => {
      const query = what === "block" ? { seconds: 5 } : {};
      await api(`isolates/${one.pid}/${what}`, { method: "POST", query });
      notice(DONE[what](one.pid));
      await refresh();
    }) }, text);
  return made;
}

// ---- those that are gone ------------------------------------------------------------------------

const CAUSES = {
  crashed: "died by itself", killed: "was killed", drained: "had ended its work",
  notLoaded: "could not load the worker", exceededCpu: "used more CPU time than it may",
  exceededMemory: "used more memory than it may", exceededWallTime: "blocked its loop for too long",
  canceled: "was ended with its requests unfinished",
};

function drawEnded(state) {
  // Anew only when something has changed: the reader may have opened a part of it.
  const shown = JSON.stringify(state.ended);
  if (shown === endedShown) return;
  endedShown = shown;
  $("ended").replaceChildren(state.ended.length
    ? el("ol", { class: "endings" }, state.ended.map(ending))
    : el("p", { class: "empty" }, "None has ended since this server began."));
}

function ending(one) {
  const isCrash = !["drained"].includes(one.cause);
  return el("li", { class: "card ending", dataset: { pid: one.pid, tone: isCrash ? "bad" : "" } },
    el("header", {}, el("h3", {}, `pid ${one.pid} ${CAUSES[one.cause] ?? one.cause}`),
      el("span", { class: "dim" }, `${clockTime(one.at)} · generation ${one.generation} · lived ` +
        `${span(one.age_s)} · served ${one.served}${exitText(one.status)}`)),
    one.in_flight.map((place) => placeOf(place, one)),
    isCrash && !one.in_flight.length ? el("p", { class: "dim" }, "It had no request.") : null);
}

function exitText(status) {
  if (status === null || status === undefined || status === 0) return "";
  return status < 0 ? ` · signal ${-status}${status === -9 ? " (SIGKILL)" : ""}` : ` · exit ${status}`;
}

function placeOf(place, one) {
  const name = place.url ? `${place.method} ${pathOf(place.url)}` : `request ${place.ray}`;
  const nothing = !place.before.length && !place.under_way.length;
  return el("section", { class: "place", "aria-label": `Where ${name} was` },
    el("h4", {}, el("a", { href: `./../#${place.ray}` }, name)),
    nothing ? el("p", { class: "dim" }, "It was in no call, and had made none.") : null,
    el("ol", { class: "calls" },
      place.before.map((call) => el("li", { dataset: { state: call.ended.error ? "bad" : "done" } },
        callName(call), el("span", { class: "took" }, call.ended.error ?? duration(call.ended.ms)))),
      place.under_way.map((call) => el("li", { dataset: { state: "under-way" } }, callName(call),
        el("span", { class: "took" }, "under way")))),
    place.lines.length ? el("pre", {}, place.lines.map((line) => line.text).join("\n")) : null);
}

let soon = 0;
function refreshSoon() {
  if (!soon) soon = setTimeout(() => { soon = 0; refresh().catch((error) => console.error(error)); }, 100);
}

follow({ start: refreshSoon, happening: refreshSoon, lost: refreshSoon }, { kinds: ["isolate.", "process.", "worker."] });
setInterval(() => { if (!document.hidden) refreshSoon(); }, PAUSE_MS);
