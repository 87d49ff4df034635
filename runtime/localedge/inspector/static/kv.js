// KV: namespaces, keys in pages, one key opened.
import { $, api, bytes, el, follow, keys, notice } from "./app.js";
import { choose, empty, newest, place, redraw, short, soon, theirTime, until } from "./data.js";
import { editor, valueOf } from "./kv_value.js";

const PAGE = 50;
const state = { namespaces: [], keys: [], cursor: null, opened: null, editing: false };
const asking = newest();
const opening = newest();

const namespace = () => $("namespace").value;
const current = () => state.namespaces.find((one) => one.id === namespace());

// ---- namespaces ---------------------------------------------------------------------------------

async function start() {
  try {
    state.namespaces = (await api("kv/namespaces")).namespaces;
  } catch (error) {
    $("keys").replaceChildren(empty(error.message));
    return;
  }
  const chosen = namespace();
  $("namespace").replaceChildren(...state.namespaces.map((one) => el("option", { value: one.id,
    selected: one.id === chosen }, nameOf(one))));
  $("new").disabled = !state.namespaces.length;
  if (!state.namespaces.length) {
    $("keys").replaceChildren(empty("No worker of this server has a KV namespace."));
    return;
  }
  about();
  await list();
  const { key } = place.get();
  if (key !== undefined && state.opened === null) await open(key, { quiet: true });
  else if (state.opened !== null && !state.editing) await open(state.opened, { quiet: true });
}

function nameOf(one) {
  const names = [...new Set(one.bindings.map((b) => b.binding))].join(", ");
  return names === one.id ? names : `${names} (${one.id})`;
}

function about() {
  const one = current();
  if (!one) return;
  const workers = one.bindings.map((b) => `env.${b.binding} of ${b.worker}`).join(", ");
  const places = Object.entries(one.locations).map(([name, n]) => `${name} (${n})`).join(", ");
  const consistency = one.consistency === "eventual"
    ? `Eventual: each location keeps what it has read. ${places ? `Cached at ${places}.` : ""}`
    : "Strong: every read is the newest.";
  $("about").textContent = `${workers}. ${consistency}`;
}

// ---- keys ---------------------------------------------------------------------------------------

async function list({ more = false } = {}) {
  if (!namespace()) return;
  const isNewest = asking();
  const wanted = more ? PAGE : Math.min(Math.max(PAGE, state.keys.length), 200);
  let page;
  try {
    page = await api("kv/keys", { query: { namespace: namespace(), prefix: $("prefix").value,
      limit: wanted, cursor: more ? state.cursor : null } });
  } catch (error) {
    if (isNewest()) $("keys").replaceChildren(empty(error.message));
    return;
  }
  if (!isNewest()) return;
  theirTime(page.now_ms);
  state.keys = more ? [...state.keys, ...page.keys] : page.keys;
  state.cursor = page.cursor;
  draw();
}

function draw() {
  const focused = document.activeElement?.closest?.("#keys tr")?.dataset.key;
  const rows = state.keys.map(rowOf);
  const n = state.keys.length;
  $("count").textContent = state.cursor ? `${n}+ keys` : n === 1 ? "1 key" : `${n} keys`;
  if (!rows.length) {
    $("keys").replaceChildren(empty($("prefix").value
      ? `No key begins with “${$("prefix").value}”.`
      : "No key yet. What a worker puts appears here."));
    return;
  }
  const more = state.cursor ? el("div", { class: "bar more-bar" },
    el("button", { type: "button", id: "more", onclick: () => list({ more: true }) },
      "More keys")) : null;
  $("keys").replaceChildren(el("table", { class: "keys", "aria-label": "Keys" },
    el("thead", {}, el("tr", {}, ["Key", "Metadata", "Size", "Expires in"].map((name) =>
      el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows)), more ?? "");
  if (focused !== undefined) rowFor(focused)?.querySelector("button").focus();
}

function rowOf(key) {
  const row = el("tr", { dataset: { key: key.name },
    "aria-selected": String(key.name === state.opened) },
    el("td", { class: "name" }, el("button", { type: "button", class: "opener",
      title: key.name, onclick: () => open(key.name) }, key.name)),
    el("td", { class: "meta dim mono" }, key.metadata === null ? "" : short(key.metadata, 60)),
    el("td", { class: "size" }, bytes(key.size_bytes)),
    el("td", { class: "ttl" }, key.expiration === null ? el("span", { class: "dim" }, "never")
      : until(key.expiration * 1000, { over: "expired", onOver: changedSoon })));
  row.addEventListener("click", (event) => {
    if (!event.target.closest("button, a")) open(key.name);
  });
  return row;
}

const rowFor = (key) => [...document.querySelectorAll("#keys tr[data-key]")]
  .find((row) => row.dataset.key === key);

// ---- one key ------------------------------------------------------------------------------------

async function open(key, { quiet = false } = {}) {
  const isNewest = opening();
  let found;
  try {
    found = await api("kv/value", { query: { namespace: namespace(), key } });
  } catch (error) {
    if (!isNewest()) return;
    if (!quiet) notice(error.message, "bad");
    if (state.opened === key) {
      $("detail").replaceChildren(gone(key));
      state.editing = false;
    }
    return;
  }
  if (!isNewest() || (quiet && state.editing)) return;
  theirTime(found.now_ms);
  select(key);
  const shown = valueOf(found, {
    namespace: namespace(), consistency: current()?.consistency, onClose: close,
    onEdit: () => edit(found), onDeleted: () => { close(); list(); }, onOver: changedSoon,
  });
  show(shown);
  if (!quiet) $("detail").scrollTop = 0;
}

function gone(key) {
  return el("div", { class: "value" }, el("div", { class: "value-head" },
    el("h2", {}, key), el("button", { type: "button", class: "quiet", onclick: close }, "Close")),
    empty("This key has no value any more."));
}

function select(key) {
  state.opened = key;
  state.editing = false;
  place.set({ namespace: namespace(), key });
  for (const row of document.querySelectorAll("#keys tr[data-key]")) {
    row.setAttribute("aria-selected", String(row.dataset.key === key));
  }
}

function show(node) {
  redraw($("detail"), node);
  $("detail").hidden = false;
  document.body.dataset.opened = "yes";
}

function edit(found) {
  state.editing = true;
  show(editor(found, {
    namespace: namespace(),
    onCancel: () => {
      state.editing = false;
      if (found) open(found.key);
      else close();
    },
    onSaved: async (key) => {
      state.editing = false;
      notice(`Wrote ${key}.`);
      await list();
      await open(key);
    },
  }));
  $("detail").querySelector(found ? "textarea" : "input").focus();
}

function close() {
  const row = state.opened === null ? null : rowFor(state.opened);
  state.opened = null;
  state.editing = false;
  $("detail").hidden = true;
  $("detail").replaceChildren();
  delete document.body.dataset.opened;
  place.set({ key: null });
  row?.setAttribute("aria-selected", "false");
  (row?.querySelector("button") ?? $("new")).focus();
}

// ---- what happens -------------------------------------------------------------------------------

async function changed() {
  await list();
  if (state.opened !== null && !state.editing) await open(state.opened, { quiet: true });
}
const changedSoon = soon(changed, 400);

function step(by) {
  const buttons = [...document.querySelectorAll("#keys button.opener")];
  const here = buttons.indexOf(document.activeElement);
  const opened = buttons.findIndex((b) => b.closest("tr").dataset.key === state.opened);
  const next = buttons[Math.min(Math.max((here >= 0 ? here : opened) + by, 0), buttons.length - 1)];
  if (!next) return false;
  next.focus();
  if (state.opened !== null && !state.editing) open(next.closest("tr").dataset.key);
  return true;
}

choose($("namespace"), place.get().namespace);
$("namespace").addEventListener("change", () => {
  state.keys = [];
  if (state.opened !== null || state.editing) close();
  place.set({ namespace: namespace(), key: null });
  about();
  list();
});
$("prefix").addEventListener("input", () => {
  state.keys = [];
  list();
});
$("new").addEventListener("click", () => {
  select(null);
  edit(null);
});
keys({
  "/": () => $("prefix").focus(),
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  n: () => $("new").click(),
  e: () => document.querySelector("#detail .edit")?.click(),
  Escape: () => {
    if ($("detail").hidden) return false;
    (document.querySelector("#detail .cancel") ?? { click: close }).click();
    return true;
  },
});
follow({
  start,
  happening(one) {
    if (one.kind === "clock.moved") start();
    else if (one.type === "kv") changedSoon();
  },
  lost: start,
}, { kinds: ["call.began", "clock.moved"] });
