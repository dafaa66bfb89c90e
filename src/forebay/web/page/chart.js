// Curves against the buffer on one logarithmic axis: points with bands, marks of laws, the region.

import { count, percent, seconds } from "./question.js";
import { add, canvas, linear, logarithmic, logTicks, path, ticks } from "./svg.js";

const LEFT = 62, RIGHT = 14, TOP = 24, BOTTOM = 24;
export const KINDS = [
  { name: "utilization", title: "Utilization", show: percent, height: 180 },
  { name: "loss_rate", title: "Loss", show: percent, height: 128 },
  { name: "queue_delay_mean", title: "Queueing delay, mean", show: seconds, height: 128 },
];

// data: {sizes, points, laws, own, best, region, goals, marked?}; points are sorted by packets.
export function draw(room, data) {
  const width = Math.max(300, room.clientWidth);
  room.replaceChildren(...KINDS.map((kind) => panel(kind, data, width)));
}

function panel(kind, data, width) {
  const known = data.points.filter((point) => point[kind.name]);
  const values = known.map((point) => `${point.packets} packets ${kind.show(point[kind.name].value)}`).join(", ");
  const svg = canvas(width, kind.height, `${kind.title} against buffer: ${values || "no values yet"}`);
  const x = across(data, width), y = up(kind, known, data.goals[kind.name]);
  region(svg, kind, data, x, width);
  axes(svg, kind, x, y, width);
  if (data.goals[kind.name] !== undefined) goal(svg, y(data.goals[kind.name]), width);
  marks(svg, kind, data, x);
  curves(svg, kind, known, x, y);
  if (data.marked) add(svg, "line", { class: "hair", x1: x(data.marked), x2: x(data.marked), y1: TOP, y2: kind.height - BOTTOM });
  return svg;
}

export function across(data, width) {
  const run = [...data.sizes, ...data.points.map((point) => point.packets)], low = Math.max(1, Math.min(...run) / 8), high = Math.max(...run) * 8;
  const inside = [...run, data.best ?? data.sizes[0], data.own ?? data.sizes[0]].filter((packets) => packets >= low && packets <= high);
  const ends = [Math.max(1, Math.min(...inside)), Math.max(2, ...inside)];
  return logarithmic(ends, [LEFT, width - RIGHT]);
}

function up(kind, known, target) {
  const values = known.flatMap((point) => [point[kind.name].low ?? point[kind.name].value, point[kind.name].high ?? point[kind.name].value]);
  if (target !== undefined) values.push(target);
  const rises = kind.name === "utilization";
  const low = rises ? Math.max(0, Math.floor(Math.min(0.95, ...values) * 20 - 0.01) / 20) : 0;
  const high = rises ? 1 : Math.max(...values, 0) * 1.08 || 1e-3;
  return linear([low, high], [kind.height - BOTTOM, TOP]);
}

function region(svg, kind, data, x, width) {
  for (const part of data.region ?? []) {
    const from = Math.max(LEFT, x(Math.max(part.low, 1)));
    const to = part.high === null ? width - RIGHT : Math.min(width - RIGHT, x(part.high));
    if (to > from) add(svg, "rect", { class: "meets", x: from, y: TOP, width: to - from, height: kind.height - TOP - BOTTOM });
  }
}

function axes(svg, kind, x, y, width) {
  add(svg, "text", { class: "title", x: 0, y: 12 }, kind.title);
  add(svg, "text", { x: width - RIGHT, y: 12, "text-anchor": "end" }, "by buffer, packets");
  for (const value of ticks(...y.ends, kind.height > 150 ? 4 : 3)) {
    add(svg, "line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
    add(svg, "text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, kind.show(value));
  }
  for (const tick of logTicks(...x.ends, (width - LEFT - RIGHT) / 58)) {
    add(svg, "line", { class: "tick", x1: x(tick), x2: x(tick), y1: kind.height - BOTTOM, y2: kind.height - BOTTOM + 4 });
    add(svg, "text", { x: x(tick), y: kind.height - 6, "text-anchor": "middle" }, count(tick));
  }
}

function goal(svg, height, width) {
  add(svg, "line", { class: "target", x1: LEFT, x2: width - RIGHT, y1: height, y2: height });
}

function marks(svg, kind, data, x) {
  const line = (name, packets, title) => {
    if (!(packets >= x.ends[0] * 0.999 && packets <= x.ends[1] * 1.001)) return;
    const place = { x1: x(packets), x2: x(packets), y1: TOP, y2: kind.height - BOTTOM };
    add(svg, "line", { class: name, ...place });
    add(add(svg, "line", { stroke: "transparent", "stroke-width": 11, ...place }), "title", {}, title);
  };
  for (const law of data.laws) {
    const broken = law.holds ? "" : `\nbroken: ${law.broken.join("; ")}`;
    line(law.holds ? "law" : "law broken", law.packets, `${law.law}: ${law.packets} packets${broken}`);
  }
  line("own", data.own, `your buffer: ${data.own} packets`);
  line("best", data.best, `recommended: ${data.best} packets`);
}

function curves(svg, kind, known, x, y) {
  const place = (point, value) => [x(point.packets), y(value)];
  const of = (stage, side) => known.filter((point) => (point.stage === "coarse") === (stage === "coarse") && (point.side ?? "") === side);
  for (const side of ["", "other"]) {
    for (const stage of ["coarse", "fine"]) curve(svg, kind, of(stage, side), stage, side, place);
  }
}

function curve(svg, kind, points, stage, side, place) {
  if (!points.length) return;
  const value = (point) => point[kind.name], names = `${stage} ${side}`;
  const banded = points.filter((point) => value(point).low !== null);
  if (stage === "fine" && banded.length > 1) {
    const edge = [...banded.map((point) => place(point, value(point).high)), ...banded.toReversed().map((point) => place(point, value(point).low))];
    add(svg, "polygon", { class: `band ${side}`, points: path(edge) });
  }
  add(svg, "polyline", { class: `curve ${names}`, points: path(points.map((point) => place(point, value(point).value))) });
  for (const point of points) {
    const [cx, cy] = place(point, value(point).value);
    add(svg, "circle", { class: `dotp ${names}`, cx, cy, r: 3 });
  }
}

// A point in words, for the line beneath the charts.
export function words(point) {
  if (!point) return "";
  const parts = KINDS.filter((kind) => point[kind.name]).map((kind) => {
    const { value, low, high } = point[kind.name];
    const band = low === null || point.stage === "coarse" ? "" : ` (${kind.show(low)} to ${kind.show(high)})`;
    return `${kind.title.toLowerCase()} ${kind.show(value)}${band}`;
  });
  const from = point.replications === 0 ? "; by the atlas" : point.stage === "coarse" ? "; one short replication" : point.replications ? `; ${point.replications} replications` : "";
  return `${count(point.packets)} packets: ${parts.join(", ")}${from}`;
}

// The point nearest to a place across the charts.
export function nearest(data, width, place) {
  const x = across(data, width), far = (point) => Math.abs(x(point.packets) - place);
  return data.points.reduce((best, point) => (!best || far(point) < far(best) ? point : best), null);
}
