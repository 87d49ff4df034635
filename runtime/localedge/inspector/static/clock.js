// Clock: what time it is for the workers, and buttons that move it.
import { $, act, api, el, follow, notice, span } from "./app.js";

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
let known = null; // what the server said, and when by performance.now()

async function refresh() {
  learn(await api("clock"));
}

function learn(answer) {
  known = { ...answer, heard: performance.now() };
  drawOffset();
  drawCrons();
  tick();
}

function now() {
  return known.now * 1000 + (performance.now() - known.heard);
}

function utc(ms) {
  return new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, "");
}

function tick() {
  if (!known) return;
  $("now").textContent = `${utc(now())} UTC`;
  for (const one of document.querySelectorAll("[data-next]")) {
    const left = Number(one.dataset.next) - now() / 1000;
    one.textContent = left > 0 ? `in ${span(left)}` : "now";
  }
}

function drawOffset() {
  const off = known.offset_s;
  const moved = Math.abs(off) >= 1;
  $("offset").textContent = moved
    ? `${span(Math.abs(off))} ${off > 0 ? "ahead of" : "behind"} this machine's clock. ` +
      "Isolates, KV's expiry, SQL's time and crons all follow."
    : "The same as this machine's clock.";
  $("reset").disabled = !moved;
}

function drawCrons() {
  $("crons").replaceChildren(known.crons.length
    ? el("table", { "aria-label": "Crons" },
      el("thead", {}, el("tr", {}, ["Cron", "Worker", "Next, for the workers", "", ""].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, known.crons.map(cron)))
    : el("p", { class: "empty" }, "The worker has no crons."));
}

function cron(one) {
  const fire = el("button", { type: "button", onclick: () => act(fire, async () => {
    const query = { worker: one.worker, cron: one.cron };
    const answer = await api("crons/fire", { method: "POST", query });
    notice(`Fired ${one.cron}: ${answer.outcome}.`, answer.outcome === "ok" ? "good" : "bad");
  }) }, "Fire now");
  return el("tr", {}, el("td", {}, el("code", {}, one.cron)), el("td", {}, one.worker),
    el("td", {}, one.next === null ? "never" : `${utc(one.next * 1000)} UTC`),
    el("td", { dataset: one.next === null ? {} : { next: one.next } }), el("td", {}, fire));
}

async function move(query) {
  learn(await api("clock", { method: "POST", query }));
  notice(`It is ${utc(now())} UTC for the workers now.`, "good", "clock");
}

/** "25h", "1d12h", "90": seconds; NaN for what is none. */
export function seconds(text) {
  const given = text.trim().toLowerCase().replaceAll(" ", "");
  if (/^-?\d+(\.\d+)?$/.test(given)) return Number(given);
  if (!/^(\d+(\.\d+)?[smhdw])+$/.test(given)) return NaN;
  const parts = [...given.matchAll(/(\d+(?:\.\d+)?)([smhdw])/g)];
  return parts.reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit], 0);
}

for (const button of document.querySelectorAll("[data-advance]")) {
  button.addEventListener("click", () => act(button, () => move({ advance: button.dataset.advance })));
}
$("reset").addEventListener("click", () => act($("reset"), () => move({ reset: "" })).then(drawOffset));
$("advance").addEventListener("submit", (event) => {
  event.preventDefault();
  const by = seconds($("by").value);
  if (Number.isNaN(by)) {
    notice(`"${$("by").value}" is no duration: give seconds, or a number with a unit: 90s, 15m, 25h, 7d, 1w.`, "bad");
    return;
  }
  act(event.submitter, () => move({ advance: by }));
});
$("set").addEventListener("submit", (event) => {
  event.preventDefault();
  act(event.submitter, () => move({ set: Date.parse(`${$("moment").value}Z`) / 1000 }));
});

follow({ start: refresh, happening: refresh, lost: refresh }, { kinds: ["clock.", "worker."] });
setInterval(tick, 250);
