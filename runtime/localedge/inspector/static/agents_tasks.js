// Tasks: the list, and of one its life, steps and questions.
import { act, api, duration, el, notice } from "./app.js";
import {
  ask, choice, empty, fact, newest, place, redraw, short, theirTime, until, written,
} from "./data.js";
import { questionOf } from "./agents_decisions.js";
import { timelineOf } from "./agents_timeline.js";

const PAGE = 50;
export const TONES = { planned: "", running: "open", waiting_tool: "warn", completed: "good",
  failed: "bad", active: "good", paused: "warn", expired: "", pending: "", compensating: "warn",
  compensated: "good", dead: "bad", succeeded: "good", success: "good", skipped: "" };
export const badge = (text, tone = TONES[text] ?? "") =>
  el("span", { class: "badge", dataset: { tone } }, text.replaceAll("_", " "));
const FILTERS = { all: "All", unfinished: "Unfinished", waiting: "Waiting", failed: "Failed" };
const STATUSES = { all: null, unfinished: "planned,running,waiting_tool", waiting: "waiting_tool",
  failed: "failed" };

export function tasksTab(panel, context) {
  const { database } = context;
  const state = { filter: "all", session: null, count: PAGE, opened: null, drawn: "" };
  const asking = newest();
  const opening = newest();
  const text = el("input", { type: "search", placeholder: "Id or goal", "aria-label": "Id or goal",
    autocomplete: "off", spellcheck: "false" });
  const session = el("span", { class: "session-filter", hidden: true });
  const list = el("div", { class: "list" });
  const detail = el("section", { class: "detail", "aria-label": "One task", hidden: true });
  panel.append(
    el("div", { class: "bar" }, choice("Which tasks", FILTERS, "all", (name) => {
      state.filter = name;
      show();
    }), text, session),
    el("div", { class: "split" }, list, detail));
  text.addEventListener("input", () => show());

  async function show() {
    const isNewest = asking();
    let page;
    try {
      page = await api("agents/tasks", { query: { database: database(), limit: state.count,
        status: STATUSES[state.filter], session: state.session, text: text.value || null } });
    } catch (error) {
      if (isNewest()) list.replaceChildren(empty(error.message));
      return;
    }
    if (!isNewest()) return;
    drawList(page);
    const { task } = place.get();
    if (task) await open(task, { quiet: true });
    else if (state.opened) close();
  }

  function drawList(page) {
    session.hidden = !state.session;
    if (state.session) {
      session.replaceChildren("of session ", el("code", {}, state.session), " ",
        el("button", { type: "button", class: "quiet", "aria-label": "All sessions",
          onclick: () => { state.session = null; show(); } }, "×"));
    }
    if (!page.tasks.length) {
      list.replaceChildren(empty("No such task yet."));
      return;
    }
    redraw(list, el("table", { class: "tasks", "aria-label": "Tasks" },
      el("thead", {}, el("tr", {}, ["Goal", "Status", "Steps", "Lease"].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, page.tasks.map(row))),
    page.more ? el("div", { class: "bar more-bar" }, el("button", { type: "button",
      onclick: () => { state.count += PAGE; show(); } }, "More tasks")) : "");
  }

  function row(task) {
    const node = el("tr", { dataset: { task: task.task_id },
      "aria-selected": String(task.task_id === place.get().task) },
    el("td", { class: "goal" }, el("button", { type: "button", class: "opener", title: task.goal,
      onclick: () => open(task.task_id) }, task.goal),
    el("span", { class: "dim mono small id" }, task.task_id)),
    el("td", {}, statusOf(task)),
    el("td", { class: "number" }, `${task.current_step}/${task.total_steps}`),
    el("td", { class: "number" }, leaseOf(task)));
    node.addEventListener("click", (event) => {
      if (!event.target.closest("button, a")) open(task.task_id);
    });
    return node;
  }

  async function open(id, { quiet = false } = {}) {
    const isNewest = opening();
    let found;
    try {
      found = await api("agents/task", { query: { database: database(), task: id } });
    } catch (error) {
      if (isNewest()) {
        if (!quiet) notice(error.message, "bad");
        close();
      }
      return;
    }
    if (!isNewest()) return;
    theirTime(found.now_ms);
    const isNew = state.opened !== id;
    state.opened = id;
    place.set({ task: id });
    for (const other of list.querySelectorAll("tr[data-task]")) {
      other.setAttribute("aria-selected", String(other.dataset.task === id));
    }
    // A form that somebody fills in stays; so does what has not changed.
    const drawn = JSON.stringify({ ...found, now_ms: 0,
      timeline: found.task.lease_left_ms ? found.timeline : { ...found.timeline, to_ms: 0 } });
    if (!isNew && (drawn === state.drawn || isBusy(detail))) return;
    const unfolded = new Set([...detail.querySelectorAll("details[open]")].map((d) => d.dataset.step));
    if (isNew) detail.replaceChildren();
    const shown = taskOf(found, context, { onClose: close, unfolded: isNew ? new Set() : unfolded });
    if (redraw(detail, shown)) state.drawn = drawn;
    detail.hidden = false;
    document.body.dataset.opened = "yes";
    if (isNew) detail.scrollTop = 0;
  }

  function close() {
    const here = list.querySelector(`[data-task="${CSS.escape(state.opened ?? "")}"]`);
    state.opened = null;
    detail.hidden = true;
    detail.replaceChildren();
    delete document.body.dataset.opened;
    place.set({ task: null });
    here?.setAttribute("aria-selected", "false");
    here?.querySelector("button")?.focus();
  }

  return { show, ofSession(id) { state.session = id; place.set({ task: null }); },
    escape() {
      if (!state.opened) return false;
      close();
      return true;
    } };
}

const isBusy = (node) => node.contains(document.activeElement)
  && document.activeElement.matches("input, textarea");

export function statusOf(task) {
  if (task.quarantine_reason) return badge("set aside", "bad");
  return [badge(task.status), task.is_abandoned
    ? el("span", { class: "badge abandoned", title: "Unfinished, and nobody has its lease",
      dataset: { tone: "warn" } }, "nobody works on it") : null];
}

function leaseOf(task) {
  if (!task.lease_left_ms) return el("span", { class: "dim" }, "–");
  return until(task.lease_expires_at_ms, { over: "over" });
}

// ---- one task -----------------------------------------------------------------------------------

function taskOf(found, context, { onClose, unfolded }) {
  const { task } = found;
  return el("div", { class: "task" },
    el("div", { class: "value-head" },
      el("div", {}, el("h2", { class: "goal-title" }, task.goal),
        el("div", { class: "bar" }, statusOf(task),
          el("span", { class: "dim mono small" }, task.task_id))),
      el("div", { class: "bar" }, actions(task, context),
        el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: onClose },
          "×"))),
    task.quarantine_reason ? el("p", { class: "refusal" },
      `Set aside: ${task.quarantine_reason}. The record is kept as it is.`) : null,
    task.error ? el("p", { class: "refusal" }, `${task.error_code ?? "error"}: ${task.error}`) : null,
    found.questions.map((question) => questionOf(question, context)),
    el("section", {}, el("h3", {}, "Time line"), timelineOf(found.timeline)),
    el("section", {}, el("h3", {}, "Steps"),
      el("ol", { class: "task-steps" }, found.steps.map((step) =>
        stepOf(step, unfolded.has(String(step.step_index)),
          found.questions.some((one) => one.step_index === step.step_index))))),
    el("dl", { class: "facts" },
      fact("Session", el("button", { type: "button", class: "link mono",
        onclick: () => context.toSession(task.session_id) }, task.session_id)),
      fact("Lease", task.lease_left_ms ? el("span", {}, until(task.lease_expires_at_ms), " left, ",
        el("span", { class: "mono small" }, task.lease_holder)) : "nobody has it"),
      fact("Fence", task.fence), fact("Version", task.version),
      fact("Claims without progress", task.claims || ""), fact("Request", task.request_id),
      fact("Outcome", task.outcome), fact("Created", task.created_at),
      fact("Changed", task.updated_at), fact("Turns of the model", found.iteration || "")),
    found.tools.length ? toolsOf(found.tools) : null,
    found.result === null ? null : el("div", {}, el("h3", {}, "Result"),
      el("pre", {}, written(found.result))));
}

function actions(task, { database, current, changed }) {
  const buttons = [];
  if (task.lease_left_ms) {
    const button = el("button", { type: "button" }, "End lease");
    button.addEventListener("click", async () => {
      const words = "Whoever has it can store nothing more once another one has the task. "
        + "An effect that is under way is not taken back.";
      if (!(await ask({ title: "End this lease now?", text: words, yes: "End lease" }))) return;
      await act(button, () => api("agents/free", { method: "POST",
        query: { database: database() }, body: { task_id: task.task_id } }));
      changed();
    });
    buttons.push(button);
  } else if (task.is_abandoned && current().has_cron) {
    const button = el("button", { type: "button", class: "main",
      title: "Runs the worker’s cron, which takes up abandoned tasks" }, "Resume now");
    button.addEventListener("click", async () => {
      await act(button, async () => {
        const answer = await api("agents/resume", { method: "POST",
          query: { database: database() } });
        notice(`Ran the cron ${answer.cron} of ${answer.worker}: ${answer.outcome}.`,
          answer.outcome === "ok" ? "good" : "bad");
      });
      changed();
    });
    buttons.push(button);
  }
  return buttons;
}

function stepOf(step, isOpen, asks) {
  const took = step.started_at && step.completed_at
    ? duration(Date.parse(step.completed_at) - Date.parse(step.started_at)) : "";
  const body = el("div", { class: "step-body" },
    el("dl", { class: "facts" },
      fact("Effect", step.effect.replace("_", " ")), fact("Attempts", step.attempt || ""),
      fact("Lease", step.fence || ""), fact("Began", step.started_at),
      fact("Ended", step.completed_at), fact("Decision", step.resolution),
      fact("Group", step.group),
      fact("Idempotency key", step.idempotency_key
        ? el("span", { class: "mono small" }, step.idempotency_key) : "")),
    step.error ? el("p", { class: "refusal" }, `${step.error_code ?? "error"}: ${step.error}`) : null,
    el("div", {}, el("h4", { class: "dim" }, "Input"), el("pre", {}, written(step.input))),
    step.status === "success" || step.output !== null
      ? el("div", {}, el("h4", { class: "dim" }, "Output"), el("pre", {}, written(step.output)))
      : null);
  return el("li", {}, el("details", { open: isOpen, dataset: { step: step.step_index } },
    el("summary", {},
      el("span", { class: "mono step-name" }, `${step.step_index} ${step.action}`),
      asks && step.status === "running" ? badge("uncertain", "warn") : badge(step.status),
      step.resolution ? badge(step.resolution, "open") : null,
      el("span", { class: "dim small step-output" }, step.output === null ? ""
        : short(step.output, 70)),
      el("span", { class: "took" }, took)), body));
}

function toolsOf(tools) {
  return el("section", {}, el("h3", {}, "Tools"), el("div", { class: "scroll" },
    el("table", { "aria-label": "Tools" }, el("tbody", {}, tools.map((tool) => el("tr", {},
      el("th", { scope: "row", class: "mono" }, tool.tool_name), el("td", {}, badge(tool.status)),
      el("td", {}, `${tool.retry_count} of ${tool.max_retries} retries`),
      el("td", { class: "dim" }, tool.last_error ?? "",
        tool.rate_limit_reset_at ? ` not before ${tool.rate_limit_reset_at}` : "")))))));
}
