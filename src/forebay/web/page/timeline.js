// One replication over time: the queue, windows of a few flows, the sum of all with its normal fit.

import { density, histogram } from "./normal.js";
import { count, percent, seconds } from "./question.js";
import { add, canvas, linear, path, ticks } from "./svg.js";

const LEFT = 62, RIGHT = 14, TOP = 24, BOTTOM = 22, BINS = 30;

// Draws a replay until sample `at`; what comes later is pale.
export function drawReplay(room, replay, at) {
  const width = Math.max(300, room.clientWidth);
  const parts = [queue(replay, at, width)];
  if (Object.keys(replay.windows).length) parts.push(windows(replay, at, width));
  if (replay.sum.some((each) => each > 0)) parts.push(sums(replay, at, width));
  room.replaceChildren(...parts);
}

// What is seen at a sample, in words.
export function moment(replay, at) {
  const windows = Object.entries(replay.windows).map(([flow, values]) => `flow ${flow}: ${Number(values[at].toPrecision(3))}`);
  const drops = replay.drops[at] ? `, ${replay.drops[at]} dropped` : "";
  return `${replay.at_s[at].toFixed(2)} s: ${count(replay.queue[at])} of ${count(replay.buffer)} waiting${drops}${windows.length ? `; ${windows.join(", ")}` : ""}`;
}

function frame(replay, width, height, title, high, place = [LEFT, width - RIGHT], low = 0) {
  const svg = canvas(width, height, title), y = linear([low, high || 1], [height - BOTTOM, TOP]);
  const x = linear([replay.at_s[0], replay.at_s.at(-1)], place);
  add(svg, "text", { class: "title", x: 0, y: 12 }, title);
  for (const value of ticks(low, high, 3)) {
    add(svg, "line", { class: "grid", x1: place[0], x2: place[1], y1: y(value), y2: y(value) });
    add(svg, "text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, count(value));
  }
  for (const value of ticks(...x.ends, (place[1] - place[0]) / 90)) add(svg, "text", { x: x(value), y: height - 5, "text-anchor": "middle" }, `${value} s`);
  return { svg, x, y };
}

function line(svg, { x, y }, replay, values, at, name) {
  const points = values.map((value, index) => [x(replay.at_s[index]), y(value)]);
  add(svg, "polyline", { class: `series later ${name}`, points: path(points.slice(at)) });
  add(svg, "polyline", { class: `series ${name}`, points: path(points.slice(0, at + 1)) });
}

function hair(svg, { x, y }, replay, at) {
  add(svg, "line", { class: "hair", x1: x(replay.at_s[at]), x2: x(replay.at_s[at]), y1: y(y.ends[0]), y2: TOP });
}

function queue(replay, at, width) {
  const made = frame(replay, width, 150, "Queue, packets", Math.max(replay.buffer, ...replay.queue)), { svg, x, y } = made;
  const points = replay.queue.map((value, index) => [x(replay.at_s[index]), y(value)]);
  const filled = (part, name) => part.length && add(svg, "polygon", { class: name, points: path([[part[0][0], y(0)], ...part, [part.at(-1)[0], y(0)]]) });
  filled(points.slice(at), "queue later");
  filled(points.slice(0, at + 1), "queue");
  add(svg, "line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(replay.buffer), y2: y(replay.buffer) });
  replay.drops.forEach((drops, index) => { if (drops) add(svg, "line", { class: index > at ? "drop later" : "drop", x1: points[index][0], x2: points[index][0], y1: TOP - 5, y2: TOP - 1 }); });
  hair(svg, made, replay, at);
  return svg;
}

function windows(replay, at, width) {
  const all = Object.entries(replay.windows);
  const made = frame(replay, width, 150, "Windows, packets", Math.max(...all.flatMap(([, values]) => values)));
  all.forEach(([, values], index) => line(made.svg, made, replay, values, at, `flow${index}`));
  hair(made.svg, made, replay, at);
  return made.svg;
}

function sums(replay, at, width) {
  const split = width - (width > 520 ? 190 : 110);
  const made = frame(replay, width, 170, "Sum of all windows, packets", Math.max(...replay.sum) * 1.02, [LEFT, split], Math.min(...replay.sum) * 0.9);
  line(made.svg, made, replay, replay.sum, at, "flow0");
  hair(made.svg, made, replay, at);
  beside(made, replay, at, split + 8, width - RIGHT);
  return made.svg;
}

// The histogram of the sums so far, on its side, with the normal density of the whole window.
function beside({ svg, y }, replay, at, left, right) {
  const { from, width, share } = histogram(replay.sum, BINS, at + 1);
  const peak = replay.fit ? density(replay.fit.mean, replay.fit) * width : 0;
  const x = linear([0, Math.max(peak, ...share)], [left, right]);
  share.forEach((part, index) => {
    const top = y(from + (index + 1) * width), bottom = y(from + index * width);
    add(svg, "rect", { class: "bar", x: left, y: top, width: Math.max(0, x(part) - left), height: Math.max(0.5, bottom - top - 0.5) });
  });
  if (!replay.fit) return;
  const values = Array.from({ length: 61 }, (_, index) => Math.max(0, from + (index / 60) * BINS * width));
  const curve = values.map((value) => [x(density(value, replay.fit) * width), y(value)]);
  add(add(svg, "polyline", { class: "normal", points: path(curve) }), "title", {}, `normal: mean ${count(Math.round(replay.fit.mean))}, standard deviation ${count(Math.round(replay.fit.deviation))} packets`);
}

export function about(replay) {
  const fit = replay.fit ? ` The sum of the windows is ${percent(replay.fit.deviation / replay.fit.mean)} about its mean; its distribution is at most ${percent(replay.fit.distance)} from the normal one.` : "";
  const lost = replay.drops.reduce((sum, each) => sum + each, 0);
  return `Seed ${replay.seed}, ${seconds(replay.at_s.at(-1) - replay.at_s[0])}: ${percent(replay.utilization)} used, ${count(lost)} packets dropped.${fit}${replay.note ? ` ${replay.note}.` : ""}`;
}
