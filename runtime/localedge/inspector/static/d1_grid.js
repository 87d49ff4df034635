// Rows of a table as a person reads them: kinds told apart, long values cut.
import { bytes, el } from "./app.js";

/** A table of rows. `sorted`: { order, descending }; `onSort(column)`: a column was chosen. */
export function grid(columns, rows, { label, sorted = {}, onSort } = {}) {
  return el("div", { class: "scroll" }, el("table", { class: "grid", "aria-label": label },
    el("thead", {}, el("tr", {}, columns.map((name) => head(name, sorted, onSort)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cellOf))))));
}

function head(name, { order, descending }, onSort) {
  if (!onSort) return el("th", { scope: "col" }, name);
  const isHere = order === name;
  const direction = isHere ? (descending ? "descending" : "ascending") : "none";
  return el("th", { scope: "col", "aria-sort": direction },
    el("button", { type: "button", class: "sort", onclick: () => onSort(name) }, name,
      el("span", { class: "arrow", "aria-hidden": "true" },
        isHere ? (descending ? "▼" : "▲") : "")));
}

/** One value: NULL, numbers, texts, and what was cut. */
export function cellOf(value) {
  if (value === null) return el("td", { class: "null" }, "NULL");
  if (typeof value === "number") return el("td", { class: "number" }, String(value));
  if (typeof value === "string") {
    return el("td", { class: "text", title: value.length > 60 ? value : null },
      value === "" ? el("span", { class: "dim" }, "''") : value);
  }
  if (value.kind === "blob") {
    return el("td", { class: "blob", title: value.part }, `x'${value.part.slice(0, 16)}`,
      value.size > 8 ? "…" : "'", el("span", { class: "dim" }, ` ${bytes(value.size)}`));
  }
  return el("td", { class: "text", title: `${value.part}…` }, value.part,
    el("span", { class: "dim" }, `… ${value.size.toLocaleString("en")} characters`));
}
