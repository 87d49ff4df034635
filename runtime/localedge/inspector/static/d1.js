// D1: which database, and its four tabs.
import { $, api, bytes, el, follow, keys } from "./app.js";
import { choose, empty, place, shownTab, soon, tabs } from "./data.js";
import { consoleTab } from "./d1_console.js";
import { migrationsTab } from "./d1_migrations.js";
import { slowTab } from "./d1_slow.js";
import { tablesTab } from "./d1_tables.js";

const FIRST = "tables";
const state = { databases: [] };
const database = () => $("database").value;
choose($("database"), place.get().database);

const all = {
  tables: tablesTab($("panel-tables"), database),
  console: consoleTab($("panel-console"), database, { changed: () => { all.tables.stale(); about(); } }),
  slow: slowTab($("panel-slow"), database, {
    toConsole: (sql) => { show("console"); all.console.put(sql); },
  }),
  migrations: migrationsTab($("panel-migrations"), database, {
    changed: () => { all.tables.stale(); about(); },
  }),
};
const show = tabs(Object.fromEntries(Object.entries(all).map(([name, tab]) => [name, tab.show])),
  FIRST);

async function start() {
  try {
    state.databases = (await api("d1/databases")).databases;
  } catch (error) {
    $("about").textContent = error.message;
    return;
  }
  const chosen = database();
  $("database").replaceChildren(...state.databases.map((one) => el("option", { value: one.id,
    selected: one.id === chosen }, nameOf(one))));
  write();
  if (!state.databases.length) {
    $(`panel-${FIRST}`).hidden = false;
    $(`panel-${FIRST}`).replaceChildren(empty("No worker of this server has a D1 database."));
    return;
  }
  const { tab } = place.get();
  show(shownTab() ?? (tab in all ? tab : FIRST));
}

function nameOf(one) {
  const names = [...new Set(one.bindings.map((b) => b.binding))].join(", ");
  return names === one.name ? names : `${names} (${one.name})`;
}

function write() {
  const one = state.databases.find((other) => other.id === database());
  if (!one) return;
  const workers = one.bindings.map((b) => `env.${b.binding} of ${b.worker}`).join(", ");
  const size = one.size_bytes === null ? "never used" : bytes(one.size_bytes);
  $("about").textContent = `${workers}, ${size}`;
}

async function about() {
  state.databases = (await api("d1/databases")).databases;
  write();
}

$("database").addEventListener("change", () => {
  place.set({ database: database(), table: null });
  for (const tab of Object.values(all)) tab.stale();
  write();
  show(shownTab() ?? FIRST);
});
keys({
  "/": () => { show("console"); all.console.focus(); },
  r: () => { for (const tab of Object.values(all)) tab.stale(); show(shownTab() ?? FIRST); },
});

const changedSoon = soon(() => {
  for (const name of ["tables", "slow"]) all[name].stale();
  if (["tables", "slow"].includes(shownTab())) all[shownTab()].show();
}, 700);
follow({
  start,
  happening(one) { if (one.type === "d1") changedSoon(); },
  lost: start,
}, { kinds: ["call.began"] });
