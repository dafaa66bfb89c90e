// Curves against the buffer on one logarithmic axis: points with bands, marks of laws, the region.

import { seconds } from "./question.js";

const NS = "http://www.w3.org/2000/svg";
const LEFT = 62, RIGHT = 12, TOP = 24, BOTTOM = 22;
const percent = (value) => `${Number((100 * value).toPrecision(4))} %`;
const KINDS = [
  { name: "utilization", title: "Utilization", show: percent, height: 170 },
  { name: "loss_rate", title: "Loss", show: percent, height: 120 },
  { name: "queue_delay_mean", title: "Queueing delay, mean", show: seconds, height: 120 },
];

function add(parent, tag, attributes, text) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// data: {sizes, points, laws, own, best, region, goals}; points are sorted by packets.
export function draw(room, data) {
  const width = Math.max(300, room.clientWidth);
  const svgs = KINDS.map((kind) => panel(kind, data, width));
  room.replaceChildren(...svgs);
}

function panel(kind, data, width) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${kind.height}`);
  svg.setAttribute("role", "img");
  const known = data.points.filter((point) => point[kind.name]);
  svg.setAttribute("aria-label", `${kind.title} against buffer: ${known.map((p) => `${p.packets} packets ${kind.show(p[kind.name].value)}`).join(", ") || "no values yet"}`);
  const x = across(data, width), y = up(kind, known, data.goals[kind.name]);
  region(svg, kind, data, x, width);
  axes(svg, kind, x, y, width);
  marks(svg, kind, data, x);
  curve(svg, kind, known, x, y);
  return svg;
}

function across(data, width) {
  const all = [...data.sizes, ...data.points.map((point) => point.packets), data.best ?? data.sizes[0]];
  const low = Math.log(Math.max(1, Math.min(...all))), high = Math.log(Math.max(...all, 2));
  const scale = (packets) => LEFT + ((Math.log(packets) - low) / Math.max(high - low, 1e-9)) * (width - LEFT - RIGHT);
  scale.ends = [Math.exp(low), Math.exp(high)];
  return scale;
}

function up(kind, known, target) {
  const values = known.flatMap((point) => [point[kind.name].low ?? point[kind.name].value, point[kind.name].high ?? point[kind.name].value]);
  if (target !== undefined) values.push(target);
  let low = kind.name === "utilization" ? Math.min(0.9, ...values) : 0;
  let high = kind.name === "utilization" ? 1 : Math.max(...values, 0) * 1.08 || 1e-3;
  if (kind.name === "utilization") low = Math.max(0, Math.floor(low * 10 - 0.01) / 10);
  const scale = (value) => TOP + (1 - (value - low) / (high - low)) * (kind.height - TOP - BOTTOM);
  scale.ends = [low, high];
  return scale;
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
  for (const part of [0, 0.5, 1]) {
    const value = y.ends[0] + part * (y.ends[1] - y.ends[0]);
    add(svg, "line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
    add(svg, "text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, kind.show(Number(value.toPrecision(3))));
  }
  const room = (width - LEFT - RIGHT) / 60;
  const ticks = [1, 2, 5].flatMap((one) => [0, 1, 2, 3, 4, 5, 6].map((power) => one * 10 ** power)).sort((a, b) => a - b);
  let inside = ticks.filter((tick) => tick >= x.ends[0] && tick <= x.ends[1]);
  if (inside.length > room) inside = inside.filter((tick) => Number.isInteger(Math.log10(tick)));
  for (const tick of inside) add(svg, "text", { x: x(tick), y: kind.height - 6, "text-anchor": "middle" }, tick.toLocaleString("en"));
}

function marks(svg, kind, data, x) {
  const line = (name, packets, title) => {
    if (!(packets >= x.ends[0] * 0.999 && packets <= x.ends[1] * 1.001)) return;
    const at = { x1: x(packets), x2: x(packets), y1: TOP, y2: kind.height - BOTTOM };
    add(add(svg, "line", { class: name, ...at }), "title", {}, title);
    add(add(svg, "line", { stroke: "transparent", "stroke-width": 11, ...at }), "title", {}, title);
  };
  for (const law of data.laws) {
    const broken = law.holds ? "" : `\nbroken: ${law.broken.join("; ")}`;
    line(law.holds ? "law" : "law broken", law.packets, `${law.law}: ${law.packets} packets${broken}`);
  }
  line("own", data.own, `your buffer: ${data.own} packets`);
  line("best", data.best, `recommended: ${data.best} packets`);
}

function curve(svg, kind, known, x, y) {
  if (!known.length) return;
  const place = (point, value) => `${x(point.packets).toFixed(1)},${y(value).toFixed(1)}`;
  const banded = known.filter((point) => point[kind.name].low !== null && point.stage !== "coarse");
  if (banded.length > 1) {
    const edge = [...banded.map((point) => place(point, point[kind.name].high)), ...banded.toReversed().map((point) => place(point, point[kind.name].low))];
    add(svg, "polygon", { class: "band", points: edge.join(" ") });
  }
  const rough = known.some((point) => point.stage === "coarse");
  add(svg, "polyline", { class: rough ? "curve coarse" : "curve", points: known.map((point) => place(point, point[kind.name].value)).join(" ") });
  for (const point of known) {
    const dot = add(svg, "circle", { class: point.stage === "coarse" ? "dotp guessed" : "dotp", cx: x(point.packets), cy: y(point[kind.name].value), r: 3.2 });
    add(dot, "title", {}, `${point.packets} packets: ${kind.show(point[kind.name].value)}`);
  }
}
