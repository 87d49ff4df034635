// The statements that took workers longest, of the calls that were recorded.
import { api, duration, el } from "./app.js";
import { empty } from "./data.js";

export function slowTab(panel, database, { toConsole }) {
  async function show() {
    let found;
    try {
      found = (await api("d1/slowest", { query: { database: database() } })).statements;
    } catch (error) {
      panel.replaceChildren(empty(error.message));
      return;
    }
    if (!found.length) {
      panel.replaceChildren(empty("No statement was recorded yet. Calls are recorded while this ",
        "page is open: send the worker a request."));
      return;
    }
    const slowest = found[0].slowest_ms;
    panel.replaceChildren(el("div", { class: "list" }, el("table",
      { class: "slow", "aria-label": "Slowest statements" },
      el("thead", {}, el("tr", {}, ["Statement", "Slowest", "Mean", "Runs", ""].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, found.map((one) => row(one, slowest))))));
  }

  function row(one, slowest) {
    return el("tr", {},
      el("td", { class: "statement" },
        el("code", {}, one.sql),
        el("span", { class: "bar-of" }, el("span", {
          style: { width: `${Math.max(1, (100 * one.slowest_ms) / slowest)}%` } }))),
      el("td", { class: "number", dataset: { label: "slowest" } },
        el("a", { href: `/cdn-cgi/localedge/#${one.ray}`, title: "The request of the slowest run" },
          duration(one.slowest_ms))),
      el("td", { class: "number", dataset: { label: "mean" } }, duration(one.mean_ms)),
      el("td", { class: "number", dataset: { label: "runs" } }, `${one.runs}`, one.failed
        ? el("span", { class: "badge", dataset: { tone: "bad" } }, `${one.failed} failed`) : null),
      el("td", {}, el("button", { type: "button", class: "quiet",
        "aria-label": "Put it into the console", onclick: () => toConsole(one.sql) }, "Console")));
  }

  return { show, stale: () => {} };
}
