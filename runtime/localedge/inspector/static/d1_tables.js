// Tables: the list, and of one its rows in pages or its schema.
import { api, el } from "./app.js";
import { choice, empty, fact, newest, place, redraw } from "./data.js";
import { grid } from "./d1_grid.js";

const PAGE = 50;

export function tablesTab(panel, database) {
  const asking = newest();
  const state = { tables: null, opened: null, form: "rows", skip: 0, order: null, descending: false };
  const list = el("div", { class: "list tables" });
  const detail = el("div", { class: "detail table-detail" });
  panel.append(el("div", { class: "split" }, list, detail));

  async function show() {
    const isNewest = asking();
    let found;
    try {
      found = (await api("d1/tables", { query: { database: database() } })).tables;
    } catch (error) {
      if (isNewest()) {
        state.tables = null;
        detail.hidden = true;
        list.replaceChildren(empty(error.message, error.hint ? ` ${error.hint}` : ""));
      }
      return;
    }
    if (!isNewest()) return;
    state.tables = found;
    const wanted = state.opened ?? place.get().table;
    const one = found.find((table) => table.name === wanted) ?? found.find((table) => table.rows) ?? found[0];
    if (one?.name !== state.opened) Object.assign(state, { skip: 0, order: null, descending: false });
    state.opened = one?.name ?? null;
    drawList();
    await drawDetail();
  }

  function drawList() {
    const focused = document.activeElement?.closest?.(".tables li")?.dataset.table;
    if (!state.tables.length) {
      list.replaceChildren(empty("No table yet. Migrations make them, or the console."));
      return;
    }
    list.replaceChildren(el("ul", {}, state.tables.map((table) => el("li",
      { dataset: { table: table.name } },
      el("button", { type: "button", "aria-current": table.name === state.opened ? "true" : null,
        onclick: () => open(table.name) },
        el("span", { class: "mono" }, table.name),
        el("span", { class: "dim" }, countOf(table)))))));
    const here = list.querySelector("[aria-current]")?.closest("li");
    if (here) list.scrollTop = Math.min(list.scrollTop, here.offsetTop - list.offsetTop);
    const below = here ? here.offsetTop - list.offsetTop + here.offsetHeight - list.clientHeight : 0;
    if (below > list.scrollTop) list.scrollTop = below + here.offsetHeight;
    if (focused) list.querySelector(`[data-table="${CSS.escape(focused)}"] button`)?.focus();
  }

  function open(name) {
    Object.assign(state, { opened: name, skip: 0, order: null, descending: false });
    place.set({ table: name });
    drawList();
    drawDetail();
  }

  async function drawDetail() {
    const table = state.tables.find((one) => one.name === state.opened);
    detail.hidden = !table;
    if (!table) return;
    const body = el("div", { class: "table-body" });
    const before = detail.querySelector(".table-body");
    if (state.form === "schema") body.append(schemaOf(table));
    else body.append(await rowsOf(table));
    if (state.opened !== table.name) return;
    const scrolled = before?.querySelector(".scroll")?.scrollLeft ?? 0;
    redraw(detail,
      el("div", { class: "value-head" }, el("h2", {}, table.name),
        choice("What is shown of the table", { rows: "Rows", schema: "Schema" }, state.form,
          (form) => { state.form = form; drawDetail(); })),
      body);
    const scroll = body.querySelector(".scroll");
    if (scroll) scroll.scrollLeft = scrolled;
  }

  async function rowsOf(table) {
    let page;
    try {
      page = await api("d1/rows", { query: { database: database(), table: table.name,
        limit: PAGE, skip: state.skip, order: state.order,
        descending: state.descending ? "true" : null } });
    } catch (error) {
      return el("p", { class: "refusal", role: "alert" }, error.message);
    }
    const shown = page.rows.length
      ? `Rows ${state.skip + 1} to ${state.skip + page.rows.length}` : "No rows";
    const turn = (by) => { state.skip = Math.max(0, state.skip + by); drawDetail(); };
    return el("div", { class: "rows" },
      grid(page.columns, page.rows, { label: `Rows of ${table.name}`, sorted: state,
        onSort: (column) => {
          state.descending = state.order === column && !state.descending;
          state.order = column;
          state.skip = 0;
          drawDetail();
        } }),
      el("div", { class: "bar pager" },
        el("span", { class: "dim small", role: "status" }, page.rows.length ? `${shown} of ${countOf(table)}` : shown),
        el("button", { type: "button", disabled: state.skip === 0, onclick: () => turn(-PAGE) },
          "Back"),
        el("button", { type: "button", disabled: !page.more, onclick: () => turn(PAGE) },
          "Next")));
  }

  return { show, stale: () => {} };
}

function countOf(table) {
  if (table.kind === "view") return table.rows === null ? "view" : `view, ${table.rows} rows`;
  return table.rows === null ? "over 100,000 rows" : `${table.rows.toLocaleString("en")} rows`;
}

function schemaOf(table) {
  const columns = table.columns.map((column) => el("tr", {},
    el("th", { scope: "row" }, column.name),
    el("td", { class: "mono" }, column.type || el("span", { class: "dim" }, "any")),
    el("td", {}, [column.key ? badge(table.columns.filter((c) => c.key).length > 1
      ? `key ${column.key}` : "key", "open") : null,
    column.is_required ? badge("not null") : null]),
    el("td", { class: "mono" }, column.default === null ? "" : column.default)));
  return el("div", { class: "schema" },
    el("div", { class: "scroll" }, el("table", { "aria-label": "Columns" },
      el("thead", {}, el("tr", {}, ["Column", "Type", "", "Default"].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, columns))),
    table.indexes.length ? el("div", {}, el("h3", {}, "Indexes"), el("dl", { class: "facts" },
      table.indexes.map((index) => fact(index.name,
        el("span", { class: "mono" }, index.columns.join(", ")),
        index.is_unique ? [" ", badge("unique")] : "")))) : null,
    el("div", {}, el("h3", {}, "SQL"), el("pre", { class: "sql" }, table.sql || "–")),
    table.triggers.map((sql, at) => el("div", {},
      el("h3", {}, table.triggers.length > 1 ? `Trigger ${at + 1}` : "Trigger"),
      el("pre", { class: "sql" }, sql))));
}

const badge = (text, tone = "") => el("span", { class: "badge", dataset: { tone } }, text);
