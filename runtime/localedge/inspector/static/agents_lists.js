// Sessions and leases.
import { api, el } from "./app.js";
import { empty, newest, now, redraw, theirTime, until } from "./data.js";
import { badge } from "./agents_tasks.js";

export function sessionsTab(panel, { database, toSession }) {
  const asking = newest();
  let count = 50;
  const text = el("input", { type: "search", placeholder: "Session or user",
    "aria-label": "Session or user", autocomplete: "off", spellcheck: "false" });
  const list = el("div", { class: "list" });
  panel.append(el("div", { class: "bar" }, text), list);
  text.addEventListener("input", () => show());

  async function show() {
    const isNewest = asking();
    const page = await api("agents/sessions", { query: { database: database(), limit: count,
      text: text.value || null } });
    if (!isNewest()) return;
    if (!page.sessions.length) {
      list.replaceChildren(empty("No such session."));
      return;
    }
    redraw(list, el("table", { class: "sessions", "aria-label": "Sessions" },
      el("thead", {}, el("tr", {}, ["Session", "User", "Status", "Tasks", "Messages", "Ends in"]
        .map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, page.sessions.map(row))),
    page.more ? el("div", { class: "bar more-bar" }, el("button", { type: "button",
      onclick: () => { count += 50; show(); } }, "More sessions")) : "");
  }

  function row(one) {
    return el("tr", {},
      el("td", { class: "name" }, el("button", { type: "button", class: "opener",
        onclick: () => toSession(one.session_id) }, one.session_id)),
      el("td", { class: "user" }, one.user_id),
      el("td", {}, badge(one.status)),
      el("td", { class: "number" }, `${one.tasks}`, one.waiting
        ? [" ", badge(`${one.waiting} waiting`, "warn")]
        : one.unfinished ? [" ", badge(`${one.unfinished} unfinished`, "open")] : null),
      el("td", { class: "number messages" }, String(one.message_count)),
      el("td", { class: "number" }, until(now() + one.expires_in_ms)));
  }
  return { show };
}

export function leasesTab(panel, { database, badge: count, toTask, toTrace }) {
  const asking = newest();
  const list = el("div", { class: "list" });
  panel.append(list);

  async function show() {
    const isNewest = asking();
    const found = await api("agents/leases", { query: { database: database() } });
    if (!isNewest()) return;
    theirTime(found.now_ms);
    count("leases", 0);
    if (!found.leases.length) {
      list.replaceChildren(empty("Nobody has a lease: nothing is being worked on."));
      return;
    }
    redraw(list, el("table", { class: "leases", "aria-label": "Leases" },
      el("thead", {}, el("tr", {}, ["On", "What", "Holder", "Fence", "Ends in"].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, found.leases.map((one) => el("tr", {},
        el("td", {}, badge(one.kind, one.kind === "saga" ? "warn" : "open")),
        el("td", { class: "name" }, el("button", { type: "button", class: "opener",
          onclick: () => (one.kind === "task" ? toTask(one.id) : toTrace(one.id)) },
        one.what), el("span", { class: "dim mono small id" }, one.id)),
        el("td", { class: "mono small holder", title: one.holder }, one.holder),
        el("td", { class: "number" }, String(one.fence)),
        el("td", { class: "number" }, until(one.expires_at_ms, { onOver: show })))))));
  }
  return { show };
}
