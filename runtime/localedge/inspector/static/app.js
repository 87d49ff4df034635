// What every view uses: elements, the API, the stream of what happens, notices, keys.
// Nothing here makes HTML of text: elements are made one by one, and text is put into them as text.

const PREFIX = "/cdn-cgi/localedge";
const TOKEN = "localedge.token";

/** An element. `attributes`: text sets it, true is bare, false/null leaves it out, a function
 *  listens ("onclick"); `dataset` is an object. Children: nodes, text, numbers, arrays of them. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  decorate(node, attributes);
  node.append(...flat(children));
  return node;
}

/** The same for what is drawn. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  decorate(node, attributes);
  node.append(...flat(children));
  return node;
}

function decorate(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else if (key === "dataset") Object.assign(node.dataset, value);
    // The policy of the page forbids style attributes, not properties.
    else if (key === "style") Object.assign(node.style, value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
}

function flat(children) {
  return children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false)
    .map((c) => (c instanceof Node ? c : String(c)));
}

export const $ = (id) => document.getElementById(id);

// ---- the API ------------------------------------------------------------------------------------

export class ApiError extends Error {
  constructor(status, { code = "", message = "", hint = "" } = {}) {
    super(message || `The server answered ${status}.`);
    Object.assign(this, { status, code, hint: hint || "" });
  }
}

let token = takeToken();

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) history.replaceState(null, "", location.pathname + location.search);
  try {
    // Of this tab only: pages of the worker have our origin, and would find it in localStorage.
    if (given) sessionStorage.setItem(TOKEN, given);
    return given || sessionStorage.getItem(TOKEN) || "";
  } catch {
    return given || "";
  }
}

/** What the API says to `path` ("requests/…"). `query`: parameters; `body`: sent as JSON.
 *  Whatever is no GET is sent with the token; where that is missing, the person is asked for it. */
export async function api(path, { method = "GET", query = {}, body, signal } = {}) {
  const url = new URL(`${PREFIX}/api/${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  const headers = {};
  if (method !== "GET") headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const response = await fetch(url, { method, headers, body: sent, signal, cache: "no-store" });
  if (response.status === 403 && method !== "GET" && (await askForToken())) {
    return api(path, { method, query, body, signal });
  }
  const text = await response.text();
  let content = null;
  try { content = JSON.parse(text); } catch { /* the guard answers in plain text */ }
  if (!response.ok) throw new ApiError(response.status, content?.error ?? { message: text.trim() });
  return content;
}

/** Do something on a click, and say what went wrong, if it does. */
export async function act(button, work) {
  button.disabled = true;
  try {
    return await work();
  } catch (error) {
    notice(error.hint ? `${error.message} ${error.hint}` : error.message, "bad");
    return undefined;
  } finally {
    button.disabled = false;
  }
}

function askForToken() {
  const input = el("input", {
    id: "token", type: "password", required: true, autocomplete: "off", spellcheck: "false",
  });
  const dialog = el("dialog", { "aria-labelledby": "token-title" },
    el("form", { method: "dialog" },
      el("h2", { id: "token-title" }, "This changes something"),
      el("p", {}, "It needs the token of this server. Open the page with the link that ",
        el("code", {}, "localedge dev"), " prints, or paste the token from ",
        el("code", {}, ".localedge/run.json"), "."),
      el("label", { for: "token" }, "Token"), input,
      el("div", { class: "bar end" },
        el("button", { type: "button", class: "quiet", onclick: () => dialog.close("") }, "Cancel"),
        el("button", { type: "submit", value: "ok", class: "main" }, "Go on"))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "ok" ? input.value.trim() : "";
      dialog.remove();
      if (given) {
        token = given;
        try { sessionStorage.setItem(TOKEN, given); } catch { /* for this page only, then */ }
      }
      resolve(Boolean(given));
    });
  });
}

// ---- what happens -------------------------------------------------------------------------------

/** Follow what happens. `on` has functions: `start()` once connected, again after every break and
 *  for every new server: read everything anew; `happening(one)`; `lost(count)`. Who does not see the
 *  page follows nothing: a browser has six connections for one server, and each page would hold one. */
export function follow(on, { kinds = [] } = {}) {
  const query = kinds.length ? `?kinds=${encodeURIComponent(kinds.join(","))}` : "";
  let source = null;
  const open = () => {
    if (source) return;
    source = new EventSource(`${PREFIX}/api/events${query}`);
    source.addEventListener("hello", (event) => {
      document.body.dataset.server = JSON.parse(event.data).server;
      connection("live");
      on.start?.();
    });
    source.addEventListener("lost", (event) => on.lost?.(JSON.parse(event.data).count));
    source.onmessage = (event) => on.happening?.(JSON.parse(event.data));
    source.onerror = () => connection("away");
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

function connection(state) {
  const pill = $("connection");
  pill.dataset.state = state;
  pill.textContent = state === "live" ? "live" : "not connected";
  pill.title = state === "live" ? "What happens is shown as it happens."
    : "The server does not answer. Trying again.";
}

// ---- notices, keys, theme -----------------------------------------------------------------------

/** Say `text` for a few seconds. `kind`: "good" or "bad". What is said `about` the same thing takes
 *  the place of what was said before. */
export function notice(text, kind = "good", about = null) {
  if (about) for (const old of $("notices").children) if (old.dataset.about === about) old.remove();
  const box = el("div", { class: `notice ${kind}`, dataset: { about: about ?? "" } },
    el("span", {}, text),
    el("button", { class: "quiet", type: "button", "aria-label": "Dismiss",
      onclick: () => box.remove() }, "×"));
  $("notices").append(box);
  setTimeout(() => box.remove(), kind === "bad" ? 12000 : 5000);
}

/** Keys that do something while nobody types: {"p": function, "/": function}. */
export function keys(actions) {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, dialog, [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    const action = actions[event.key];
    if (action && action(event) !== false) event.preventDefault();
  });
}

const THEMES = { "": "dark", dark: "light", light: "" };
const NAMES = { "": "◐ Auto", dark: "☾ Dark", light: "☀ Light" };

function themeButton() {
  const button = $("theme");
  const root = document.documentElement;
  const show = () => {
    button.textContent = NAMES[root.dataset.theme ?? ""];
    button.title = "Theme: as the system, dark, or light";
    button.setAttribute("aria-label", `Theme: ${button.textContent.slice(2)}`);
  };
  button.addEventListener("click", () => {
    const next = THEMES[root.dataset.theme ?? ""];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      if (next) localStorage.setItem("localedge.theme", next);
      else localStorage.removeItem("localedge.theme");
    } catch { /* for this page only, then */ }
    show();
  });
  show();
}
themeButton();

// ---- how things are written ---------------------------------------------------------------------

/** 12:03:04.123 of ms since the epoch, in the reader's zone. */
export function clockTime(ms) {
  const date = new Date(ms);
  const two = (n, width = 2) => String(n).padStart(width, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
    two(date.getMilliseconds(), 3);
}

/** 0.42 ms, 12 ms, 1.25 s, 2 min 5 s */
export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 10) return `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  return span(ms / 1000);
}

/** 45 s, 2 min 5 s, 3 h 4 min, 2 d 3 h */
export function span(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** 12.3 MB, 900 B */
export function bytes(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}

/** JSON laid out, where the text is JSON and whole; else the text. */
export function pretty(text) {
  if (text === null || text === undefined) return "";
  try {
    const value = JSON.parse(text);
    return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}
