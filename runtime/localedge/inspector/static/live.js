// Live: the list of requests, and one of them opened.
import { $, api, act, clockTime, duration, el, follow, keys, notice } from "./app.js";
import { pathOf } from "./paths.js";
import { story } from "./story.js";

const MOST = 300;
const requests = new Map(); // ray → what is known of it
const rows = new Map(); // ray → its row
const state = { opened: null, paused: false, held: 0, expected: null, cleared: 0, server: null };
const list = $("requests");

// ---- what is known ------------------------------------------------------------------------------

async function start() {
  const server = document.body.dataset.server;
  if (state.server && state.server !== server) clear();
  state.server = server;
  const answer = await api("requests");
  for (const one of answer.requests) if (one.at > state.cleared) merge(one.ray, one);
  draw();
  if (state.opened) openRequest(state.opened, { quiet: true });
  else openFromAddress();
}

function happening(one) {
  if (one.kind === "worker.broken" || one.kind === "worker.reloaded") drawBroken(one);
  if (!one.ray) return;
  const known = requests.get(one.ray);
  if (one.kind === "request.opened") {
    merge(one.ray, { ...one, state: "open" });
    if (one.replayOf && one.replayOf === state.expected) {
      state.expected = null;
      openRequest(one.ray);
    }
  } else if (one.kind === "request.closed") {
    merge(one.ray, { status: one.status, outcome: one.outcome, ms: one.ms, pid: one.pid,
      state: "closed" });
  } else if (one.kind === "request.over" && known) {
    known.state = "over";
  }
  if (one.ray === state.opened) refreshSoon();
  drawSoon();
}

function drawBroken(one) {
  $("broken").hidden = !one.failure;
  $("broken").querySelector("pre").textContent = one.failure ?? "";
}

function merge(ray, facts) {
  const known = requests.get(ray);
  if (!known && facts.method === undefined) return;
  if (!known && state.paused) state.held += 1;
  // A list that was asked for may arrive after an event that is newer than it.
  const isBack = known && facts.state === "open" && known.state !== "open";
  requests.set(ray, isBack ? known : { ...known, ...facts, ray });
}

// ---- the list -----------------------------------------------------------------------------------

function shownRequests() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = $("outcome").value;
  const all = [...requests.values()].sort((a, b) => b.at - a.at);
  for (const old of all.splice(MOST)) requests.delete(old.ray);
  return all.filter((one) => matches(one, wanted, words));
}

function matches(one, wanted, words) {
  const isOpen = one.outcome === undefined;
  if (wanted === "open" && !isOpen) return false;
  if (wanted === "ok" && one.outcome !== "ok") return false;
  if (wanted === "failed" && (isOpen || (one.outcome === "ok" && one.status < 500))) return false;
  const text = `${one.method} ${one.url} ${one.status} ${one.outcome} ${one.pid} ${one.ray}`;
  return words.every((word) => text.toLowerCase().includes(word));
}

function draw() {
  if (state.paused) {
    count();
    return;
  }
  state.held = 0;
  const shown = shownRequests();
  const focused = document.activeElement?.closest?.("tr")?.dataset.ray;
  const wanted = new Set(shown.map((one) => one.ray));
  for (const [ray, row] of rows) {
    if (!wanted.has(ray)) {
      row.remove();
      rows.delete(ray);
    }
  }
  for (const stray of [...list.children]) if (rows.get(stray.dataset.ray) !== stray) stray.remove();
  let before = null;
  for (const one of shown) {
    const row = rowOf(one);
    const place = before ? before.nextSibling : list.firstChild;
    if (place !== row) list.insertBefore(row, place);
    before = row;
  }
  if (focused && document.activeElement === document.body) rows.get(focused)?.querySelector("button").focus();
  count(shown.length);
  drawStats();
}

function drawStats() {
  const since = Date.now() - 60_000;
  const recent = [...requests.values()].filter((one) => one.at > since && one.ms !== undefined);
  const took = recent.map((one) => one.ms).sort((a, b) => a - b);
  const at = (part) => duration(took[Math.min(took.length - 1, Math.floor(took.length * part))]);
  const failed = recent.filter((one) => toneOf(one) === "bad").length;
  $("stats").textContent = took.length
    ? `last minute: ${took.length}, median ${at(0.5)}, 95 % ${at(0.95)}` +
      (failed ? `, ${failed} failed` : "") : "";
}

function count(shown) {
  $("empty").hidden = requests.size > 0 && shown !== 0;
  $("empty").textContent = requests.size ? "No request matches the filter."
    : "No request yet. Send one to the worker, and it appears here.";
  if (state.paused) $("count").textContent = `paused, ${state.held} new`;
  else {
    const some = shown === requests.size ? `${shown}` : `${shown} of ${requests.size}`;
    $("count").textContent = `${some} ${requests.size === 1 ? "request" : "requests"}`;
  }
}

function rowOf(one) {
  let row = rows.get(one.ray);
  if (!row) {
    const opener = el("button", { type: "button", class: "opener",
      onclick: () => openRequest(one.ray) });
    row = el("tr", { dataset: { ray: one.ray } },
      el("td", { class: "time" }), el("td", { class: "method" }), el("td", { class: "path" }, opener),
      el("td", { class: "status" }), el("td", { class: "outcome" }), el("td", { class: "pid" }),
      el("td", { class: "ms" }));
    row.addEventListener("click", (event) => {
      if (!event.target.closest("button, a")) openRequest(one.ray);
    });
    rows.set(one.ray, row);
  }
  const [time, method, path, status, outcome, pid, ms] = row.children;
  if (!time.firstChild) {
    const at = clockTime(one.at);
    time.append(at.slice(0, 8), el("span", { class: "fine" }, at.slice(8)));
  }
  set(method, one.method);
  set(path.firstChild, pathOf(one.url));
  path.firstChild.title = one.url;
  path.firstChild.dataset.replay = one.replayOf ? "yes" : "";
  set(status, one.status ?? "");
  set(outcome, one.outcome ?? "under way");
  set(pid, one.pid ?? "");
  set(ms, one.ms === undefined ? duration(Date.now() - one.at) : duration(one.ms));
  row.dataset.tone = toneOf(one);
  mark(row, one.ray === state.opened);
  return row;
}

function mark(row, isOpened) {
  if (isOpened) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}

function set(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

function toneOf(one) {
  if (one.outcome === undefined) return "open";
  if (one.outcome !== "ok" || one.status >= 500) return "bad";
  return one.status >= 400 ? "warn" : "good";
}

let drawing = false;
function drawSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
}

setInterval(() => {
  for (const one of requests.values()) {
    if (one.outcome === undefined && rows.has(one.ray) && !state.paused) rowOf(one);
  }
}, 250);

// ---- one request --------------------------------------------------------------------------------

async function openRequest(ray, { quiet = false } = {}) {
  const isNew = state.opened !== ray;
  state.opened = ray;
  history.replaceState(null, "", `#${ray}`);
  for (const [other, row] of rows) mark(row, other === ray);
  let found;
  try {
    found = await api(`requests/${ray}`);
  } catch (error) {
    if (!quiet) notice(error.message, "bad");
    closeRequest();
    return;
  }
  if (state.opened !== ray) return;
  const detail = $("detail");
  const before = isNew ? null : detail.querySelector(".story");
  detail.replaceChildren(story(found, { before, onClose: closeRequest, onReplay: replay }));
  detail.hidden = false;
  document.body.dataset.opened = "yes";
  if (isNew && !quiet) detail.scrollTop = 0;
}

function closeRequest() {
  const row = rows.get(state.opened);
  state.opened = null;
  $("detail").hidden = true;
  $("detail").replaceChildren();
  delete document.body.dataset.opened;
  history.replaceState(null, "", location.pathname);
  if (row) mark(row, false);
  row?.querySelector("button").focus();
}

let refreshing = 0;
function refreshSoon() {
  if (refreshing) return;
  refreshing = setTimeout(() => {
    refreshing = 0;
    if (state.opened) openRequest(state.opened, { quiet: true });
  }, 120);
}

function openFromAddress() {
  const ray = location.hash.slice(1);
  if (/^[0-9a-f]{16}$/.test(ray)) openRequest(ray, { quiet: true });
}

async function replay(ray, button) {
  state.expected = ray;
  await act(button, async () => {
    const answer = await api(`requests/${ray}/replay`, { method: "POST" });
    const isCron = requests.get(ray)?.method === "CRON";
    notice(isCron ? `Fired again: ${answer.outcome}.` : `Sent again: ${answer.status ?? "no answer"}, ${answer.outcome}.`,
      answer.outcome === "ok" ? "good" : "bad");
  });
}

// ---- by hand ------------------------------------------------------------------------------------

function pause() {
  state.paused = !state.paused;
  $("pause").textContent = state.paused ? "Go on" : "Pause";
  $("pause").setAttribute("aria-pressed", String(state.paused));
  draw();
}

function clear() {
  state.cleared = Math.max(0, ...[...requests.values()].map((one) => one.at));
  requests.clear();
  if (state.opened) closeRequest();
  draw();
}

function step(by) {
  const buttons = [...list.querySelectorAll("button.opener")];
  const here = buttons.indexOf(document.activeElement);
  const opened = buttons.findIndex((b) => b.closest("tr").dataset.ray === state.opened);
  const from = here >= 0 ? here : opened;
  const next = buttons[Math.min(Math.max(from + by, 0), buttons.length - 1)];
  if (!next) return false;
  next.focus();
  if (state.opened) openRequest(next.closest("tr").dataset.ray);
  return true;
}

$("filter").addEventListener("input", draw);
$("outcome").addEventListener("change", draw);
$("pause").addEventListener("click", pause);
$("clear").addEventListener("click", clear);
keys({
  "/": () => $("filter").focus(),
  p: pause,
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  r: () => $("detail").querySelector(".replay")?.click(),
  Escape: () => {
    if (!state.opened) return false;
    closeRequest();
    return true;
  },
});
follow({ start, happening, lost: start });
