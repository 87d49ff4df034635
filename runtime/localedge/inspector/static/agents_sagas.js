// Sagas forward and back, and dead letters with the way back.
import { act, api, el, notice } from "./app.js";
import { ask, empty, moment, newest, now, redraw, short, until } from "./data.js";
import { badge } from "./agents_tasks.js";

export function sagasTab(panel, context) {
  const { database, toTrace, badge: count, changed } = context;
  const asking = newest();
  const letters = el("div", { class: "letters" });
  const sagas = el("div", { class: "sagas" });
  panel.append(el("h2", {}, "Dead letters"), letters, el("h2", {}, "Sagas"), sagas);

  async function show() {
    const isNewest = asking();
    const team = await api("agents/team", { query: { database: database() } });
    if (!isNewest()) return;
    const open = team.dead_letters.filter((letter) => letter.requeued_at === null);
    count("sagas", open.length);
    redraw(letters, team.dead_letters.length
      ? el("div", { class: "list" }, el("table", { class: "dead", "aria-label": "Dead letters" },
        el("tbody", {}, team.dead_letters.map(letterOf))))
      : empty("No dead letter: nothing was given up."));
    redraw(sagas, ...(team.sagas.length ? team.sagas.map(sagaOf)
      : [empty("No saga yet.")]));
  }

  function letterOf(letter) {
    const button = el("button", { type: "button" }, "Requeue");
    button.addEventListener("click", async () => {
      const text = `${letter.kind} ${letter.ref} is tried again from where it stopped.`;
      if (!(await ask({ title: "Put it back?", text, yes: "Requeue" }))) return;
      await act(button, async () => {
        await api("agents/requeue", { method: "POST", query: { database: database() },
          body: { letter: letter.id } });
        notice(`Put back ${letter.ref}.`);
      });
      changed();
    });
    return el("tr", { dataset: { open: letter.requeued_at === null ? "yes" : "" } },
      el("td", {}, badge(letter.kind, letter.requeued_at === null ? "bad" : "")),
      el("td", { class: "name" }, el("button", { type: "button", class: "opener",
        onclick: () => toTrace(letter.ref) }, letter.ref),
      el("span", { class: "dim small reason" }, letter.reason,
        letter.step >= 0 ? `, step ${letter.step}` : "", `, ${letter.attempts} ${letter.attempts === 1 ? "attempt" : "attempts"}`)),
      el("td", { class: "dim small" }, moment(letter.created_at)),
      el("td", { class: "number" }, letter.requeued_at === null ? button
        : el("span", { class: "dim small" }, `put back ${moment(letter.requeued_at)}`)));
  }

  function sagaOf(saga) {
    return el("section", { class: "card saga", "aria-label": `Saga ${saga.saga_id}` },
      el("div", { class: "bar" },
        el("h3", {}, saga.name), badge(saga.status),
        saga.failure ? badge(saga.failure, "bad") : null,
        el("button", { type: "button", class: "link mono small",
          onclick: () => toTrace(saga.saga_id) }, saga.saga_id),
        saga.lease_left_ms ? el("span", { class: "dim small" }, "lease ",
          until(now() + saga.lease_left_ms)) : null,
        saga.due_in_ms ? el("span", { class: "dim small" }, "next try in ",
          until(now() + saga.due_in_ms, { over: "now" })) : null),
      el("ol", { class: "saga-steps" }, saga.steps.map((step) => el("li",
        { dataset: { status: step.status } },
        el("span", { class: "saga-name" }, step.name), badge(step.status),
        step.attempts > 1 ? el("span", { class: "dim small" }, `${step.attempts} attempts`) : null,
        step.compensation ? el("span", { class: "dim small" }, `undone by ${step.compensation}`,
          step.compensation_attempts > 1 ? `, ${step.compensation_attempts} attempts` : "") : null,
        step.error ? el("span", { class: "saga-error small" }, step.error) : null,
        step.result !== null ? el("code", { class: "dim small" }, short(step.result, 60)) : null))));
  }
  return { show };
}
