// A task's life, drawn: a lane for each isolate, its leases, steps, and what happened in between.
import { clockTime, duration, el, svg } from "./app.js";

const LANE = 52;
const TOP = 26;
const BAR = 22;
const SIGNS = { begin: "●", claim: "▶", resume: "↻", lease: "◌", crash: "✕", ask: "?",
  decide: "✓", end: "■" };

/** The drawing and the list of what happened; it is drawn anew when its place changes width. */
export function timelineOf(line) {
  const place = el("div", { class: "life-drawing" });
  const list = el("ol", { class: "life-marks", "aria-label": "What happened" },
    line.marks.map((mark) => markLine(mark, line)));
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width || now === 0) return;
    width = now;
    place.replaceChildren(drawing(line, width));
  }).observe(place);
  return el("div", { class: "life" }, place, legend(line), list);
}

function markLine(mark, line) {
  const lane = mark.lane === null ? null : line.lanes[mark.lane];
  return el("li", { dataset: { kind: mark.kind } },
    el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[mark.kind]),
    el("time", { class: "mono dim" }, clockTime(mark.at_ms)),
    el("span", {}, mark.text, mark.kind === "crash" && lane === null && line.lanes.length
      ? el("span", { class: "dim" }, " (not known whether it had the task)") : null),
    mark.ray ? el("a", { class: "small", href: `/cdn-cgi/localedge/#${mark.ray}` }, "request")
      : null);
}

function legend(line) {
  const has = new Set(line.lanes.flatMap((lane) => lane.bars.map((bar) => bar.status)));
  const names = { success: "done", running: "under way", failed: "failed",
    lost: "lost with its isolate", tried: "tried", pending: "pending" };
  const all = Object.entries(names).filter(([status]) => has.has(status));
  if (!all.length) return null;
  return el("p", { class: "life-legend dim small" }, all.map(([status, name]) =>
    el("span", { class: "key", dataset: { status } }, name)),
  el("span", {}, "Long waits are drawn shorter than they were."));
}

// ---- the scale ----------------------------------------------------------------------------------

/** Where each moment lies: long stretches are shortened, so that short steps can be seen. */
function scaleOf(line, left, right) {
  const moments = new Set([line.from_ms, line.to_ms]);
  for (const lane of line.lanes) {
    for (const one of [...lane.bars, ...lane.bands]) {
      moments.add(one.from_ms);
      moments.add(one.to_ms);
    }
  }
  for (const mark of line.marks) moments.add(mark.at_ms);
  const sorted = [...moments].filter((m) => m >= line.from_ms && m <= line.to_ms)
    .sort((a, b) => a - b);
  const parts = sorted.slice(1).map((to, at) => ({ from: sorted[at], to,
    weight: Math.max(1, (to - sorted[at]) ** 0.33) }));
  const sum = (all) => all.reduce((total, part) => total + part.weight, 0);
  for (const part of parts) {
    const others = sum(parts) - part.weight;
    part.weight = Math.min(part.weight, Math.max(others * 0.6, 1));
  }
  const unit = (right - left) / (sum(parts) || 1);
  let x = left;
  for (const part of parts) {
    part.x = x;
    x += part.weight * unit;
    part.end = x;
  }
  const at = (ms) => {
    const part = parts.find((one) => ms <= one.to) ?? parts[parts.length - 1];
    if (!part) return left;
    const share = part.to === part.from ? 0 : (ms - part.from) / (part.to - part.from);
    return part.x + Math.min(1, Math.max(0, share)) * (part.end - part.x);
  };
  return { at, parts };
}

// ---- the drawing --------------------------------------------------------------------------------

function drawing(line, width) {
  const isNarrow = width < 560;
  const gutter = isNarrow ? 0 : 118;
  const step = LANE + (isNarrow ? 18 : 0);
  const lanes = Math.max(1, line.lanes.length);
  const height = TOP + lanes * step + 22;
  const scale = scaleOf(line, gutter + 14, width - 16);
  const y = (lane) => TOP + lane * step + (isNarrow ? 18 : 0);
  const marks = line.marks.filter((mark) => mark.kind !== "lease");
  return svg("svg", { class: "life-svg", viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", "aria-label": describe(line) },
  patterns(),
  stretches(scale, height),
  line.lanes.map((lane, at) => laneOf(lane, y(at), { scale, width, gutter, isNarrow })),
  marks.map((mark) => connection(mark, line, scale, y)),
  marks.map((mark) => markOf(mark, scale, y, height)));
}

function describe(line) {
  const lanes = line.lanes.map((lane) => lane.title).join(", ");
  return `Time line of the task over ${duration(line.to_ms - line.from_ms)}` +
    `${lanes ? `: ${lanes}` : ""}. The list below says the same in words.`;
}

function patterns() {
  return svg("defs", {}, svg("pattern", { id: "lost", width: 7, height: 7,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("rect", { width: 7, height: 7, class: "life-lost-ground" }),
  svg("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "life-lost-line" })));
}

/** How long the stretches took, where there is room to say it. */
function stretches(scale, height) {
  return scale.parts.filter((part) => part.to - part.from >= 1).map((part) => {
    const middle = (part.x + part.end) / 2;
    const text = duration(part.to - part.from);
    const hasRoom = part.end - part.x > text.length * 6.2 + 6;
    return svg("g", { class: "life-stretch" },
      svg("line", { x1: part.end, x2: part.end, y1: TOP - 6, y2: height - 20 }),
      hasRoom ? svg("text", { x: middle, y: 15, "text-anchor": "middle" }, text) : null);
  });
}

function laneOf(lane, y, { scale, width, gutter, isNarrow }) {
  const title = lane.title;
  return svg("g", { class: "life-lane" },
    svg("line", { class: "life-rail", x1: gutter, x2: width, y1: y + LANE - 4, y2: y + LANE - 4 }),
    svg("text", { class: "life-title", x: isNarrow ? 2 : 0, y: isNarrow ? y - 4 : y + 28 }, title),
    lane.bands.map((band) => bandOf(band, y, scale, title)),
    lane.bars.map((bar) => barOf(bar, y, scale)));
}

function bandOf(band, y, scale, title) {
  const x = scale.at(band.from_ms);
  const wide = Math.max(6, scale.at(band.to_ms) - x);
  const name = `lease ${band.fence}`;
  const how = { held: "held now", released: "given back", expired: "ran out",
    "taken over": "taken over" }[band.how];
  return svg("g", { class: "life-band", dataset: { how: band.how } },
    svg("title", {}, `${name}${how ? `, ${how}` : ""}, ${duration(band.to_ms - band.from_ms)}` +
      `${band.holder ? `, holder ${band.holder}` : ""}`),
    svg("rect", { x, y, width: wide, height: LANE - 8, rx: 5 }),
    name !== title && wide > 50 ? svg("text", { x: x + 6, y: y + 12 }, name) : null);
}

function barOf(bar, y, scale) {
  const x = scale.at(bar.from_ms);
  const wide = Math.max(5, scale.at(bar.to_ms) - x);
  const name = `${bar.step_index} ${bar.action}`;
  const label = wide > name.length * 6.6 + 10 ? name : wide > 16 ? String(bar.step_index) : "";
  return svg("g", { class: "life-bar", dataset: { status: bar.status } },
    svg("title", {}, `step ${name}, ${bar.status}, ${bar.effect}, ` +
      `${duration(bar.to_ms - bar.from_ms)}, from ${clockTime(bar.from_ms)}`),
    svg("rect", { x, y: y + 17, width: wide, height: BAR, rx: 3 }),
    label ? svg("text", { x: x + wide / 2, y: y + 17 + 15, "text-anchor": "middle" }, label) : null);
}

/** From where the task was lost or left to where it goes on. */
function connection(mark, line, scale, y) {
  if (mark.kind !== "resume") return null;
  const before = line.lanes.flatMap((lane, at) => lane.bands.map((band) => ({ at, band })))
    .filter(({ band }) => band.to_ms <= mark.at_ms)
    .sort((a, b) => b.band.to_ms - a.band.to_ms)[0];
  if (!before || before.at === mark.lane) return null;
  const x1 = scale.at(before.band.to_ms);
  const y1 = y(before.at) + 22;
  const x2 = scale.at(mark.at_ms);
  const y2 = y(mark.lane) + 22;
  const bend = Math.max(18, (x2 - x1) / 2);
  return svg("path", { class: "life-resume",
    d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 2},${y2}` });
}

function markOf(mark, scale, y, height) {
  if (mark.kind === "claim" || mark.kind === "begin") return null;
  const x = scale.at(mark.at_ms);
  const at = mark.lane === null ? null : y(mark.lane);
  const middle = at === null ? TOP - 2 : mark.kind === "crash" ? at + 28 : at + 28;
  return svg("g", { class: "life-mark", dataset: { kind: mark.kind } },
    svg("title", {}, `${clockTime(mark.at_ms)} ${mark.text}`),
    mark.kind === "resume" ? null : svg("line", { x1: x, x2: x,
      y1: at === null ? TOP - 4 : at - 4, y2: at === null ? height - 20 : at + LANE - 4 }),
    mark.kind === "resume"
      ? svg("path", { d: `M${x - 7},${middle - 11} l7,5 l-7,5` })
      : [svg("circle", { cx: x, cy: at === null ? height - 12 : middle, r: 9 }),
        svg("text", { x, y: (at === null ? height - 12 : middle) + 4, "text-anchor": "middle" },
          SIGNS[mark.kind])]);
}
