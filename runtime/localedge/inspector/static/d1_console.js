// The console: statements under D1's own rules, their answers or D1's own refusal, their plan.
import { act, api, duration, el } from "./app.js";
import { grid } from "./d1_grid.js";

const MOST_KEPT = 50;
const KEPT = "localedge.d1.statements";

export function consoleTab(panel, database, { changed }) {
  const sql = el("textarea", { id: "sql", rows: 5, spellcheck: "false", autocapitalize: "off",
    placeholder: "SELECT * FROM …", "aria-describedby": "sql-help" });
  const params = el("input", { id: "params", autocomplete: "off", spellcheck: "false",
    placeholder: '[1, "text", null]' });
  const run = el("button", { type: "submit", class: "main" }, "Run");
  const plan = el("button", { type: "button" }, "Plan");
  const past = el("select", { "aria-label": "Earlier statements" });
  const out = el("div", { id: "answers", class: "answers", "aria-live": "polite" });
  const form = el("form", { class: "card console" },
    el("label", { for: "sql" }, "SQL"), sql,
    el("div", { class: "bar" }, run, plan,
      el("label", { for: "params" }, "Parameters"), params, past),
    el("p", { id: "sql-help", class: "dim small" },
      "Statements apart by ; run as one transaction, under D1’s rules and limits. ",
      "Ctrl+Enter runs them."));
  panel.append(form, out);
  drawPast();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(run, "query");
  });
  plan.addEventListener("click", () => ask(plan, "plan"));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  past.addEventListener("change", () => {
    if (past.selectedIndex > 0) put(kept()[past.selectedIndex - 1]);
    past.selectedIndex = 0;
  });

  async function ask(button, what) {
    await act(button, async () => {
      const given = parameters();
      const answer = await api(`d1/${what}`, { method: "POST", query: { database: database() },
        body: { sql: sql.value, params: given } });
      keep(sql.value);
      out.replaceChildren(what === "plan" ? planOf(answer) : ranOf(answer));
      if (what === "query") changed();
    });
  }

  function parameters() {
    const text = params.value.trim();
    if (!text) return [];
    let found;
    try { found = JSON.parse(text.startsWith("[") ? text : `[${text}]`); } catch { found = null; }
    if (found) return found;
    throw new Error("The parameters are no JSON: write them as [1, \"text\", null].");
  }

  function put(text) {
    sql.value = text;
    sql.focus();
  }

  function keep(text) {
    const all = [text, ...kept().filter((one) => one !== text)].slice(0, MOST_KEPT);
    try { sessionStorage.setItem(KEPT, JSON.stringify(all)); } catch { /* not kept, then */ }
    drawPast();
  }

  function drawPast() {
    const all = kept();
    past.hidden = !all.length;
    past.replaceChildren(el("option", {}, "Earlier…"), ...all.map((text) =>
      el("option", {}, text.replace(/\s+/g, " ").slice(0, 80))));
  }

  return { show: () => {}, stale: () => out.replaceChildren(), put, focus: () => sql.focus() };
}

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? []; } catch { return []; }
}

function ranOf(ran) {
  if (ran.error !== null) return refusal(ran.error, ran.place);
  return el("div", { class: "answers" }, ran.answers.map((answer) => el("section",
    { class: "card answer", "aria-label": "Answer" },
    ran.answers.length > 1 ? el("pre", { class: "sql" }, answer.sql) : null,
    answer.columns.length ? grid(answer.columns, answer.rows, { label: "Answer" }) : null,
    el("p", { class: "dim small" }, sentence(answer)))));
}

function sentence(answer) {
  const said = [];
  if (answer.columns.length) {
    said.push(`${answer.count.toLocaleString("en")} ${answer.count === 1 ? "row" : "rows"}`);
    if (answer.rows.length < answer.count) said.push(`the first ${answer.rows.length} are shown`);
  }
  if (answer.changes) said.push(`${answer.changes} changed`);
  if (!said.length) said.push("Done");
  said.push(`rows read ${answer.rows_read}, written ${answer.rows_written}`);
  if (answer.changes) said.push(`last row id ${answer.last_row_id}`);
  return `${said.join(", ")}, ${duration(answer.duration_ms)}.`;
}

function refusal(error, where) {
  return el("div", { class: "refusal", role: "alert" }, el("pre", {}, error),
    where ? el("p", {}, where) : null);
}

function planOf(plan) {
  if (plan.error !== null) return refusal(plan.error, "");
  const scans = plan.nodes.some((node) => node.is_scan);
  return el("section", { class: "card answer", "aria-label": "Plan" },
    el("ol", { class: "plan" }, plan.nodes.map((node) => el("li", {
      dataset: { tone: node.is_scan ? "warn" : "" }, style: { marginLeft: `${node.depth * 20}px` } },
      el("span", { class: "mono" }, node.text),
      node.is_scan ? el("span", { class: "badge", dataset: { tone: "warn" } }, "whole table")
        : null))),
    el("p", { class: "dim small" }, scans
      ? "Where a whole table is read, an index on the columns of WHERE may help."
      : "No table is read whole without an index."));
}
