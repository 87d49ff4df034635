// One request: what it was, and a time line of all that happened for it.
import { clockTime, duration, el, pretty } from "./app.js";

const open = new Set(); // lines that the reader has opened, by ray and number

/** The whole view of one request. */
export function story(found, { onClose, onReplay }) {
  const replay = el("button", {
    type: "button", class: "main replay", disabled: !found.canReplay,
    title: found.canReplay ? "Send the same request again (r)"
      : "Its body was not kept: it cannot be sent again.",
    onclick: () => onReplay(found.ray, replay),
  }, "Replay");
  return el("article", { class: "story" },
    el("header", { class: "story-head" },
      el("h2", {}, el("span", { class: "verb" }, found.method ?? "?"), " ",
        el("span", { class: "url" }, found.url ?? found.ray)),
      el("div", { class: "bar" }, replay,
        el("button", { type: "button", class: "quiet close", "aria-label": "Close",
          title: "Close (Escape)", onclick: onClose }, "Close"))),
    facts(found),
    found.happened.filter((one) => one.kind === "exception").map(exception),
    timeline(found),
    headers("Request headers", found.headers), body("Request body", found.body),
    headers("Response headers", found.answered), body("Response body", found.answer));
}

function facts(found) {
  const isOpen = found.outcome === undefined;
  const tone = isOpen ? "open" : found.outcome === "ok" && !(found.status >= 500) ? "good" : "bad";
  const pairs = [
    ["Status", el("span", { class: "badge", dataset: { tone } }, found.status ?? "–")],
    ["Outcome", isOpen ? "under way" : found.outcome],
    ["Took", isOpen ? "…" : duration(found.ms)],
    ["Isolate", found.pid ?? "–"],
    ["At", clockTime(found.at)],
    ["Ray", el("code", {}, found.ray)],
  ];
  if (found.replayOf) pairs.push(["Replay of", el("code", {}, found.replayOf)]);
  return el("dl", { class: "facts" },
    pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function exception(one) {
  return el("section", { class: "exception" },
    el("h3", {}, `${one.error}: ${one.message}`),
    el("pre", {}, one.traceback));
}

function headers(title, lines) {
  if (!lines?.length) return null;
  return el("details", { class: "headers" },
    el("summary", {}, `${title} (${lines.length})`),
    el("table", {}, el("tbody", {}, lines.map(([name, value]) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value))))));
}

function body(title, text) {
  return text ? el("details", { class: "headers" }, el("summary", {}, title), el("pre", {}, pretty(text)))
    : null;
}

// ---- the time line ------------------------------------------------------------------------------

function timeline(found) {
  const items = itemsOf(found);
  const begin = found.at;
  const closed = found.happened.find((one) => one.kind === "request.closed")?.at;
  const over = found.happened.find((one) => one.kind === "request.over")?.at;
  const wentOn = items.some((item) => closed && (item.waitUntil || item.at > closed + 0.05));
  const marks = [closed, wentOn ? over : undefined].filter((at) => at !== undefined);
  const last = Math.max(...items.flatMap((item) => [item.at, item.end?.at ?? item.at]), ...marks,
    begin + 0.1);
  const scale = { begin, length: last - begin, closed };
  if (closed) items.push({ kind: "mark", at: closed, text: `response ${found.status ?? ""}`.trim() });
  if (wentOn && over) items.push({ kind: "mark", at: over, text: "waitUntil has ended" });
  items.sort((a, b) => a.at - b.at);
  const hasCalls = items.some((item) => item.kind === "call");
  return el("section", { class: "timeline", "aria-label": "Time line" },
    el("h3", {}, "Time line"),
    el("div", { class: "axis", "aria-hidden": "true" }, el("span"), ticks(scale), el("span")),
    el("ol", {}, items.map((item) => line(item, scale, found))),
    hasCalls ? null : el("p", { class: "dim small" }, emptyText(found)),
    found.missing ? el("p", { class: "dim small" }, `… and ${found.missing} more, not kept.`) : null);
}

function emptyText(found) {
  const isEarly = !found.happened.some((one) => one.kind === "request.over");
  return isEarly && found.outcome !== undefined
    ? "No calls are known of it. If it came before this page was open, none were recorded: " +
      "Replay sends it again."
    : "It made no calls.";
}

function itemsOf(found) {
  const ends = new Map();
  for (const one of found.happened) {
    if (one.kind === "call.ended") ends.set(`${one.pid} ${one.call}`, one);
  }
  const items = [];
  for (const one of found.happened) {
    if (one.kind === "call.began") {
      items.push({ ...one, kind: "call", end: ends.get(`${one.pid} ${one.call}`) });
    } else if (one.kind === "console" || one.kind === "exception") {
      items.push(one);
    }
  }
  return items;
}

function ticks(scale) {
  const marks = [0, 0.25, 0.5, 0.75];
  return el("span", { class: "track" }, marks.map((part) =>
    el("span", { class: "tick", style: { left: `${part * 100}%` } },
      part ? duration(part * scale.length) : "0"))); 
}

function line(item, scale, found) {
  const key = `${found.ray} ${item.number}`;
  const isAfter = item.waitUntil || (scale.closed && item.at > scale.closed + 0.05);
  const body = details(item);
  const label = el("span", { class: "label" }, labelOf(item),
    isAfter && item.kind === "call" ? el("span", { class: "tag" }, "waitUntil") : null,
    item.pid && found.pid && item.pid !== found.pid
      ? el("span", { class: "tag", title: "in another isolate" }, `pid ${item.pid}`) : null);
  const took = item.kind === "call" ? (item.end ? duration(item.end.ms) : "under way") : "";
  const parts = [label, track(item, scale), el("span", { class: "took" }, took)];
  const attributes = { class: "line", dataset: { kind: item.kind, tone: toneOf(item) } };
  if (!body) return el("li", attributes, el("div", { class: "row" }, parts));
  const button = el("button", { type: "button", class: "row", "aria-expanded": String(open.has(key)),
    onclick: () => {
      const isOpen = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(isOpen));
      body.hidden = !isOpen;
      if (isOpen) open.add(key); else open.delete(key);
    } }, parts);
  body.hidden = !open.has(key);
  return el("li", attributes, button, body);
}

function labelOf(item) {
  if (item.kind === "console") return [el("span", { class: "what" }, item.level), ` ${firstLine(item.text)}`];
  if (item.kind === "exception") return [el("span", { class: "what" }, item.error), ` ${item.message}`];
  if (item.kind === "mark") return item.text;
  return callName(item);
}

/** KV.get "key", DB.run SELECT …, fetch GET and the URL */
export function callName(call) {
  const name = call.binding ? `${call.binding}.${call.operation}` : call.operation;
  return [el("span", { class: "what" }, name), ` ${essence(call)}`];
}

function essence(call) {
  const given = call.subject ?? (call.operation === "batch" ? call.arguments?.[0] : null);
  const statements = given ? sqlIn(given) : [];
  if (statements.length > 1) return `${statements.length} statements: ${oneLine(statements[0])}`;
  if (statements.length) return oneLine(statements[0]);
  return (call.arguments ?? []).map((text) => firstLine(unquoted(text))).join(" ");
}

/** The SQL of each statement in `text`, which is JSON, perhaps cut. */
function sqlIn(text) {
  return [...text.matchAll(/"sql": ("(?:[^"\\]|\\.)*")/g)].map(([, quoted]) => JSON.parse(quoted));
}

function oneLine(text) {
  return firstLine(text.replace(/\s+/g, " ").trim());
}

function unquoted(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

function firstLine(text) {
  const line = String(text).split("\n")[0];
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function toneOf(item) {
  if (item.kind === "exception") return "bad";
  if (item.kind === "console") return item.level === "error" ? "bad" : item.level === "warning" ? "warn" : "";
  if (item.kind === "call") return item.end?.error ? "bad" : item.end ? item.type : "open";
  return "";
}

function track(item, scale) {
  const place = (at) => Math.min(100, Math.max(0, ((at - scale.begin) / scale.length) * 100));
  const left = place(item.at);
  const shown = [];
  if (scale.closed) shown.push(el("span", { class: "after", style: { left: `${place(scale.closed)}%` } }));
  if (item.kind === "call") {
    const right = item.end ? place(item.end.at) : 100;
    shown.push(el("span", { class: "span", style: { left: `${left}%`, width: `${Math.max(right - left, 0.4)}%` } }));
  } else {
    shown.push(el("span", { class: item.kind === "mark" ? "edge" : "dot", style: { left: `${left}%` } }));
  }
  return el("span", { class: "track", "aria-hidden": "true" }, shown);
}

function details(item) {
  if (item.kind === "console") {
    return item.text.length > 60 || item.text.includes("\n") ? el("pre", {}, item.text) : null;
  }
  if (item.kind !== "call") return null;
  const parts = [];
  if (item.subject) parts.push(["Statement", statement(item.subject)]);
  if (item.operation === "batch") parts.push(...batch(item.arguments?.[0]));
  else (item.arguments ?? []).forEach((text, n) => parts.push([`Argument ${n + 1}`, pretty(text)]));
  if (item.end?.error) parts.push(["Error", item.end.error]);
  else if (item.end) parts.push(["Result", pretty(item.end.result)]);
  else parts.push(["Result", "none yet: it is under way, or its isolate died"]);
  return el("div", { class: "more" }, parts.map(([name, text]) =>
    el("div", {}, el("h4", {}, name), el("pre", {}, text))));
}

function batch(text) {
  try {
    return JSON.parse(text).map((one, n) => [`Statement ${n + 1}`, statement(JSON.stringify(one))]);
  } catch {
    return [["Statements", text ?? ""]];
  }
}

function statement(subject) {
  try {
    const { sql, params } = JSON.parse(subject);
    const text = sql.trim();
    return params?.length ? `${text}\n-- ${JSON.stringify(params)}` : text;
  } catch {
    return subject;
  }
}
