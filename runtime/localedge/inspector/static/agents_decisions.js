// Decisions: what waits for a person, and the buttons that decide it.
import { act, api, el, notice } from "./app.js";
import { empty, newest, written } from "./data.js";

const WHY = {
  uncertain: "Its effect may have happened: nobody knows. It must not happen twice.",
  failed: "It failed.",
};

export function questionsTab(panel, context) {
  const asking = newest();
  const place = el("div", { class: "questions" });
  panel.append(place);
  let drawn = "";

  async function show() {
    const isNewest = asking();
    let found;
    try {
      found = (await api("agents/questions", { query: { database: context.database() } })).questions;
    } catch (error) {
      if (isNewest()) place.replaceChildren(empty(error.message));
      return;
    }
    if (!isNewest()) return;
    context.badge("questions", found.length);
    const now = JSON.stringify(found);
    if (now === drawn && place.childElementCount) return;
    if (place.contains(document.activeElement) && document.activeElement.matches("textarea")) return;
    drawn = now;
    place.replaceChildren(...(found.length
      ? found.map((one) => questionOf(one, context, { withTask: true }))
      : [empty("Nothing waits for a decision.")]));
  }
  return { show };
}

/** One question, with the buttons that answer it. */
export function questionOf(question, context, { withTask = false } = {}) {
  const output = el("textarea", { rows: 3, spellcheck: "false",
    "aria-label": "Output of the step, as JSON", placeholder: '{"what": "it returned"}, or nothing' });
  const refusal = el("p", { class: "refusal", role: "alert", hidden: true });
  const form = el("div", { class: "decide-output", hidden: true },
    el("label", {}, "What it returned, as JSON; it is the output of the step."), output);
  const decide = (decision) => async (event) => {
    const button = event.currentTarget;
    if (decision === "done" && form.hidden) {
      form.hidden = false;
      button.textContent = "Done, with this output";
      output.focus();
      return;
    }
    refusal.hidden = true;
    let given = null;
    try {
      if (decision === "done" && output.value.trim()) given = JSON.parse(output.value);
    } catch (error) {
      refusal.textContent = `The output is no JSON: ${error.message}`;
      refusal.hidden = false;
      return;
    }
    await act(button, async () => {
      await api("agents/resolve", { method: "POST", query: { database: context.database() },
        body: { task_id: question.task_id, step_index: question.step_index, decision,
          attempt: question.attempt, output: given } });
      notice(`Decided: ${decision}, for step ${question.step_index} ${question.action}.`);
      output.blur();
    });
    context.changed();
  };
  return el("section", { class: "card question", "aria-label":
    `Decision about step ${question.step_index} ${question.action}` },
  el("h3", {}, el("span", { class: "mono" }, `${question.step_index} ${question.action}`),
    " waits for a decision"),
  withTask ? el("p", {}, "Of ", el("button", { type: "button", class: "link",
    onclick: () => context.toTask(question.task_id) }, question.goal)) : null,
  el("p", {}, WHY[question.why], question.error ? ` ${question.error}` : ""),
  el("p", { class: "dim small" }, `Attempt ${question.attempt}`,
    question.since ? `, since ${question.since}` : "",
    question.idempotency_key ? [", key ", el("code", {}, question.idempotency_key)] : null),
  el("details", {}, el("summary", { class: "dim small" }, "Input"),
    el("pre", {}, written(question.input))),
  form, refusal,
  el("div", { class: "bar" },
    el("button", { type: "button", title: "It did not happen: run it again",
      onclick: decide("retry") }, "Retry"),
    el("button", { type: "button", title: "Leave it out: it counts as over, without a result",
      onclick: decide("skip") }, "Skip"),
    el("button", { type: "button", class: "main", title: "It happened: say what it returned",
      onclick: decide("done") }, "Done")));
}
