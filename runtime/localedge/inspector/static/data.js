// What the views of stored things share: the workers' time, tabs, questions, the address.
import { $, el, keys, span } from "./app.js";

// ---- the workers' time --------------------------------------------------------------------------

let skew = 0;

/** The server says that it is `ms` for the workers. */
export function theirTime(ms) {
  if (typeof ms === "number") skew = ms - Date.now();
}

export const now = () => Date.now() + skew;

/** What is left until `ms` of the workers' time, counting down. `over`: what it says then. */
export function until(ms, { over = "over", onOver } = {}) {
  const node = el("time", { class: "count", datetime: new Date(ms).toISOString(),
    title: moment(ms), dataset: { until: ms, over } });
  if (onOver) node.addEventListener("over", onOver, { once: true });
  tick(node);
  return node;
}

/** How long ago `ms` of the workers' time was, counting up. */
export function ago(ms) {
  const node = el("time", { class: "count", datetime: new Date(ms).toISOString(),
    title: moment(ms), dataset: { since: ms } });
  tick(node);
  return node;
}

function tick(node) {
  const { until: end, since, over } = node.dataset;
  let text;
  if (end !== undefined) {
    const left = Number(end) - now();
    text = left > 0 ? span(Math.ceil(left / 1000)) : over;
    node.dataset.state = left <= 0 ? "over" : left < 10_000 ? "soon" : "far";
    if (left <= 0 && !node.dataset.told) {
      node.dataset.told = "yes";
      node.dispatchEvent(new Event("over"));
    }
  } else {
    text = span(Math.max(0, now() - Number(since)) / 1000);
  }
  if (node.textContent !== text) node.textContent = text;
}

setInterval(() => document.querySelectorAll("time.count").forEach(tick), 250);

/** 2026-12-01 12:03:04 of ms since the epoch, in the reader's zone. */
export function moment(ms) {
  const date = new Date(ms);
  const two = (n) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// ---- the address --------------------------------------------------------------------------------

/** What is looked at, as the part of the address behind #. */
export const place = {
  get: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  set(changes) {
    const found = { ...place.get(), ...changes };
    const kept = Object.entries(found).filter(([, v]) => v !== null && v !== undefined && v !== "");
    const hash = new URLSearchParams(kept).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
  },
};

/** The select shows what the address names, if it has that; its first option else. */
export function choose(select, value) {
  const found = [...select.options].find((option) => option.value === value);
  if (found) found.selected = true;
}

// ---- questions ----------------------------------------------------------------------------------

/** Ask before something is done; whether it may be. */
export function ask({ title, text, yes, danger = false }) {
  const dialog = el("dialog", { "aria-labelledby": "ask-title" },
    el("form", { method: "dialog" },
      el("h2", { id: "ask-title" }, title),
      text ? el("p", { class: "ask-text" }, text) : null,
      el("div", { class: "bar end" },
        el("button", { type: "submit", value: "", class: "quiet" }, "Cancel"),
        el("button", { type: "submit", value: "yes", class: danger ? "danger" : "main",
          autofocus: true }, yes))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

// ---- tabs ---------------------------------------------------------------------------------------

/** The tabs of the page. `shows[name]()` is called when a tab is shown. Returns show(name). */
export function tabs(shows, first) {
  const all = [...document.querySelectorAll('[role="tab"]')];
  function show(name, { focus = false } = {}) {
    for (const tab of all) {
      const isShown = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      $(`panel-${tab.dataset.tab}`).hidden = !isShown;
      if (isShown) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
      if (isShown && focus) tab.focus();
    }
    place.set({ tab: name === first ? null : name });
    shows[name]?.();
  }
  for (const [at, tab] of all.entries()) {
    tab.addEventListener("click", () => show(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(all[(to + all.length) % all.length].dataset.tab, { focus: true });
    });
  }
  keys(Object.fromEntries(all.map((tab, at) =>
    [String(at + 1), () => show(tab.dataset.tab, { focus: true })])));
  return show;
}

export const shownTab = () =>
  document.querySelector('[role="tab"][aria-selected="true"]')?.dataset.tab;

// ---- forms of a value ---------------------------------------------------------------------------

/** Buttons of which one is pressed. `onChoose(name)`. */
export function choice(label, names, chosen, onChoose) {
  const group = el("div", { class: "choice", role: "group", "aria-label": label });
  for (const [name, title] of Object.entries(names)) {
    group.append(el("button", { type: "button", "aria-pressed": String(name === chosen),
      dataset: { name },
      onclick: () => {
        for (const other of group.children) {
          other.setAttribute("aria-pressed", String(other.dataset.name === name));
        }
        onChoose(name);
      } }, title));
  }
  return group;
}

/** A term and what it is, for a list of facts; nothing for nothing. */
export function fact(term, ...what) {
  if (what.every((one) => one === null || one === undefined || one === "")) return null;
  return el("div", {}, el("dt", {}, term), el("dd", {}, ...what));
}

/** A value as JSON; a text as it is. */
export function written(value, indent = 2) {
  return typeof value === "string" ? value : JSON.stringify(value, null, indent);
}

/** The same on one line, not longer than `most`. */
export function short(value, most = 80) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** `root` has these children now. What had the focus has it again, and while a person marks text
 *  in it, it stays as it is; false then. */
export function redraw(root, ...children) {
  const marked = getSelection();
  if (marked && !marked.isCollapsed && root.contains(marked.anchorNode)) return false;
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const alike = () => [...root.querySelectorAll(active.tagName)]
    .filter((node) => nameOf(node) === name);
  const name = active ? nameOf(active) : "";
  const at = active ? alike().indexOf(active) : -1;
  root.replaceChildren(...children);
  if (active) alike()[at]?.focus({ preventScroll: true });
  return true;
}

const nameOf = (node) => node.closest("[data-step]")?.dataset.step
  ?? node.getAttribute("aria-label") ?? node.textContent;

export function empty(...text) {
  return el("p", { class: "empty" }, ...text);
}

/** Calls `work` once, `ms` after the first of many calls. */
export function soon(work, ms = 300) {
  let timer = 0;
  return () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      work();
    }, ms);
  };
}

/** Only the answer to the newest question counts: `latest()` begins one, and tells whether it is
 *  still the newest. */
export function newest() {
  let number = 0;
  return () => {
    number += 1;
    const mine = number;
    return () => mine === number;
  };
}
