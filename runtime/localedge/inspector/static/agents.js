// Agents: which database, and its tabs.
import { $, api, el, follow, keys } from "./app.js";
import { empty, place, shownTab, soon, tabs, theirTime } from "./data.js";
import { leasesTab, sessionsTab } from "./agents_lists.js";
import { questionsTab } from "./agents_decisions.js";
import { sagasTab } from "./agents_sagas.js";
import { tasksTab } from "./agents_tasks.js";
import { teamTab } from "./agents_team.js";

const state = { databases: [], isChosen: false };
const database = () => $("database").value;
const current = () => state.databases.find((one) => one.id === database());
const context = { database, current, badge, toTask, toSession, toTrace, changed: () => refresh() };

const all = {
  tasks: tasksTab($("panel-tasks"), context),
  questions: questionsTab($("panel-questions"), context),
  sessions: sessionsTab($("panel-sessions"), context),
  leases: leasesTab($("panel-leases"), context),
  team: teamTab($("panel-team"), context),
  sagas: sagasTab($("panel-sagas"), context),
};
const NEEDS = { tasks: "agent", questions: "agent", sessions: "agent", team: "team",
  sagas: "team" };
const show = tabs(Object.fromEntries(Object.keys(all).map((name) => [name, () => draw(name)])),
  "tasks");

// ---- the database -------------------------------------------------------------------------------

async function start() {
  const answer = await api("agents/databases");
  theirTime(answer.now_ms);
  state.databases = answer.databases;
  const wanted = state.isChosen ? database() : place.get().database;
  const best = state.databases.find((one) => one.id === wanted)
    ?? state.databases.find((one) => one.agent || one.team) ?? state.databases[0];
  state.isChosen = true;
  $("database").replaceChildren(...state.databases.map((one) => el("option", { value: one.id,
    selected: one === best }, nameOf(one))));
  $("about").textContent = best
    ? [best.agent && "single agents", best.team && "a team"].filter(Boolean).join(" and ") : "";
  const { tab } = place.get();
  show(shownTab() ?? (tab in all ? tab : "tasks"));
  badges();
}

function nameOf(one) {
  const names = [...new Set(one.bindings.map((b) => b.binding))].join(", ");
  return names === one.name ? names : `${names} (${one.name})`;
}

function draw(name) {
  const one = current();
  const panel = $(`panel-${name}`);
  panel.querySelector(":scope > .lack")?.remove();
  const lacks = !one ? "No worker of this server has a D1 database."
    : NEEDS[name] && !one[NEEDS[name]]
      ? "This database has not the tables of edgestate. Bring them with: localedge agent vendor, "
        + "then localedge d1 migrations apply." : null;
  panel.dataset.lacks = lacks ? "yes" : "";
  if (lacks) {
    panel.prepend(el("div", { class: "lack" }, empty(lacks)));
    return undefined;
  }
  return all[name].show();
}

async function badges() {
  if (!current()?.agent) return;
  const { questions } = await api("agents/questions", { query: { database: database() } });
  badge("questions", questions.length);
}

function badge(tab, count) {
  const node = $(`tab-${tab}`).querySelector(".badge");
  node.hidden = !count;
  node.textContent = String(count);
  node.dataset.tone = "warn";
}

function toTask(id) {
  place.set({ task: id });
  show("tasks");
}
function toSession(id) {
  all.tasks.ofSession(id);
  show("tasks");
}
function toTrace(id) {
  place.set({ trace: id });
  show("team");
}

// ---- what happens -------------------------------------------------------------------------------

function refresh() {
  if (shownTab()) draw(shownTab());
  badges();
}
const changedSoon = soon(refresh, 500);
// Leases end and clocks move without any call.
setInterval(() => {
  if (document.visibilityState === "visible" && !document.querySelector("dialog[open]")) refresh();
}, 3000);

$("database").addEventListener("change", () => {
  place.set({ database: database(), task: null, trace: null });
  start();
});
keys({ r: refresh, Escape: () => all[shownTab()]?.escape?.() ?? false });
follow({
  start,
  happening(one) {
    if (one.kind === "clock.moved") start();
    else if (one.kind !== "call.began" || one.type === "d1" || one.type === "tool") changedSoon();
  },
  lost: start,
}, { kinds: ["call.began", "clock.moved", "isolate.ended"] });
