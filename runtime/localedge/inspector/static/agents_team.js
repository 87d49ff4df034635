// The team: who is in it, the board of goals and tasks, and the trace of one across agents.
import { api, clockTime, el, span, svg } from "./app.js";
import { empty, newest, now, place, redraw, short, until } from "./data.js";
import { badge } from "./agents_tasks.js";

export function teamTab(panel, { database }) {
  const asking = newest();
  const tracing = newest();
  let drawn = "";
  const members = el("div", { class: "members" });
  const board = el("div", { class: "list" });
  const trace = el("section", { class: "detail trace", "aria-label": "Trace", hidden: true });
  const id = el("input", { type: "search", placeholder: "Trace, goal, task, saga or correlation id",
    "aria-label": "Id to trace", autocomplete: "off", spellcheck: "false" });
  const form = el("form", { class: "bar" }, id, el("button", { type: "submit" }, "Trace"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (id.value.trim()) open(id.value.trim());
  });
  panel.append(members, form, el("div", { class: "split" }, board, trace));

  async function show() {
    const isNewest = asking();
    const team = await api("agents/team", { query: { database: database() } });
    if (!isNewest()) return;
    members.replaceChildren(...team.members.map(memberOf));
    redraw(board, team.board.length ? boardOf(team.board, open)
      : empty("No goal yet. The planner puts them here."));
    const { trace: wanted } = place.get();
    if (wanted) await open(wanted, { quiet: true });
  }

  async function open(wanted, { quiet = false } = {}) {
    const isNewest = tracing();
    let life;
    try {
      life = await api("agents/life", { query: { database: database(), id: wanted } });
    } catch (error) {
      if (!isNewest() || quiet) return;
      trace.hidden = false;
      drawn = "";
      trace.replaceChildren(head(wanted), el("p", { class: "refusal" }, error.message));
      return;
    }
    if (!isNewest()) return;
    place.set({ trace: wanted });
    const same = `${wanted} ${life.events.length}`;
    if (quiet && same === drawn && !trace.hidden) return;
    drawn = same;
    trace.hidden = false;
    document.body.dataset.opened = "yes";
    trace.replaceChildren(head(wanted), lifeOf(life, open));
  }

  function head(wanted) {
    return el("div", { class: "value-head" }, el("h2", {}, wanted),
      el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: close }, "×"));
  }

  function close() {
    trace.hidden = true;
    delete document.body.dataset.opened;
    place.set({ trace: null });
  }

  return { show, escape() {
    if (trace.hidden) return false;
    close();
    return true;
  } };
}

function memberOf(member) {
  const seen = member.seen_ms_ago === null ? "never seen"
    : `seen ${span(Math.max(0, member.seen_ms_ago) / 1000)} ago`;
  return el("div", { class: "card member" },
    el("div", { class: "bar" }, el("strong", {}, member.agent_id), badge(member.role, "open")),
    el("span", { class: "dim small" }, seen,
      member.seen_ms_ago === null ? "" : `, load ${Math.round(member.load * 100)} %`,
      member.task_id ? [", on ", el("code", {}, member.task_id)] : null));
}

function boardOf(tasks, open) {
  return el("table", { class: "board", "aria-label": "Board" },
    el("thead", {}, el("tr", {}, ["Task", "Status", "Agent", "Lease"].map((name) =>
      el("th", { scope: "col" }, name)))),
    el("tbody", {}, tasks.map((task) => el("tr",
      { dataset: { goal: task.task_id === task.root_id ? "yes" : "" } },
      el("td", { class: "name" }, el("button", { type: "button", class: "opener",
        title: task.reason || task.task_id, onclick: () => open(task.task_id) }, task.task_id),
      el("span", { class: "dim small id" }, task.kind,
        task.attempt > 1 ? `, attempt ${task.attempt}` : "")),
      el("td", {}, badge(task.status), task.review === "open" ? [" ", badge("review", "warn")]
        : task.review === "accepted" ? [" ", badge("accepted", "good")] : null),
      el("td", { class: "mono small agent" }, task.agent_id),
      el("td", { class: "number" }, task.lease_left_ms
        ? until(now() + task.lease_left_ms) : el("span", { class: "dim" }, "–"))))));
}

// ---- a trace: one column for each agent, time runs down --------------------------------------------

const COLUMN = 26;

function lifeOf(life, open) {
  const places = new Map(life.agents.map((agent, at) => [agent, at]));
  const others = life.agents.length;
  const columns = others + (life.events.some((event) => !event.agent_id) ? 1 : 0);
  const sent = new Map();
  return el("div", { class: "trace-life" },
    el("p", { class: "dim small" }, `${life.events.length} events of ${life.agents.length} agents`,
      life.is_cut ? ", the last ones" : "", "."),
    el("ul", { class: "trace-agents" }, life.agents.map((agent, at) =>
      el("li", { dataset: { place: at % 6 } }, el("span", { class: "trace-dot" }), agent)),
    columns > others ? el("li", { dataset: { place: "none" } },
      el("span", { class: "trace-dot" }), "the database") : null),
    el("ol", { class: "trace-events" }, life.events.map((event) => {
      const at = event.agent_id === null ? others : places.get(event.agent_id);
      const from = event.kind === "message consumed" ? sent.get(event.ref) : undefined;
      if (event.kind === "message sent") sent.set(event.ref, at);
      return eventOf(event, at, { columns, others, from, open });
    })));
}

function eventOf(event, at, { columns, others, from, open }) {
  const x = (column) => 10 + column * COLUMN;
  const width = x(columns - 1) + 12;
  return el("li", { dataset: { tone: toneOf(event.kind) } },
    svg("svg", { class: "trace-rail", width, height: 24, viewBox: `0 0 ${width} 24`,
      "aria-hidden": "true" },
    // Beyond its own height, so that the rails of all events are one.
    Array.from({ length: columns }, (_, column) => svg("line", { x1: x(column), x2: x(column),
      y1: -400, y2: 400 })),
    from !== undefined && from !== at ? svg("line", { class: "trace-hand", x1: x(from),
      x2: x(at), y1: 12, y2: 12 }) : null,
    svg("circle", { cx: x(at), cy: 12, r: 6, dataset: { place: at === others ? "none" : at % 6 } })),
    el("time", { class: "mono dim small" }, clockTime(event.created_at)),
    el("div", {}, el("strong", {}, event.kind), " ", el("button", { type: "button",
      class: "link mono small", title: event.ref, onclick: () => open(traceableOf(event)) }, short(event.ref, 26)),
    event.agent_id ? el("span", { class: "dim small" }, ` ${event.agent_id}`) : null,
    el("div", { class: "dim small detail-line", title: short(event.detail, 2000) },
      Object.entries(event.detail).filter(([, value]) => value !== null && value !== "")
        .map(([name, value]) => `${name} ${short(value, 80)}`).join(" · "))));
}

/** What the event can be traced by: a task or a saga by itself, all else by its trace. */
function traceableOf(event) {
  if (/^(task|saga|result|decision|context|snapshot|dead|requeued)/.test(event.kind)) return event.ref;
  return event.detail.correlation ?? event.trace_id;
}

function toneOf(kind) {
  if (/dead|denied|failed/.test(kind)) return "bad";
  if (/pending|compensat|requeued/.test(kind)) return "warn";
  return /completed|result|accepted/.test(kind) ? "good" : "";
}
