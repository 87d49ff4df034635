// Migrations: applied and pending, and applying what is pending.
import { act, api, el, notice } from "./app.js";
import { ask, empty } from "./data.js";

export function migrationsTab(panel, database, { changed }) {
  async function show() {
    let found;
    try {
      found = await api("d1/migrations", { query: { database: database() } });
    } catch (error) {
      panel.replaceChildren(el("p", { class: "refusal", role: "alert" }, error.message));
      return;
    }
    if (!found.migrations.length) {
      panel.replaceChildren(empty(found.folder === null
        ? "There is no migrations folder." : `No migrations lie in ${found.folder}.`));
      return;
    }
    const button = el("button", { type: "button", class: "main", disabled: !found.pending },
      found.pending ? `Apply ${found.pending}` : "Apply");
    button.addEventListener("click", () => apply(button, found.pending));
    const applied = found.migrations.length - found.pending;
    panel.replaceChildren(
      el("div", { class: "bar" },
        el("span", { role: "status" }, `${applied} applied, ${found.pending} pending`,
          found.folder ? el("span", { class: "dim" }, ` in ${found.folder}`) : null), button),
      el("div", { class: "list" }, el("table", { class: "migrations", "aria-label": "Migrations" },
        el("thead", {}, el("tr", {}, ["Migration", "State", "Applied (UTC)"].map((name) =>
          el("th", { scope: "col" }, name)))),
        el("tbody", {}, found.migrations.map(row)))));
  }

  function row(one) {
    const isApplied = one.applied_at !== null;
    return el("tr", {},
      el("td", { class: "mono" }, one.name, one.has_file ? null
        : el("span", { class: "badge", dataset: { tone: "bad" } }, "no file")),
      el("td", {}, el("span", { class: "badge", dataset: { tone: isApplied ? "good" : "warn" } },
        isApplied ? "applied" : "pending")),
      el("td", { class: "dim" }, one.applied_at ?? ""));
  }

  async function apply(button, pending) {
    const text = "Each file is one transaction. Requests wait meanwhile.";
    if (!(await ask({ title: `Apply ${pending} migrations?`, text, yes: "Apply" }))) return;
    await act(button, async () => {
      const { applied } = await api("d1/migrations/apply", { method: "POST",
        query: { database: database() } });
      notice(`Applied ${applied.length} migrations.`);
      changed();
    });
    await show();
  }

  return { show, stale: () => {} };
}
