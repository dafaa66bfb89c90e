// Two pinned scenarios beside each other, with what differs marked.

import { draw } from "./chart.js";
import { count, leaves, percent, seconds } from "./question.js";

// Rows {name, values, differs} of two pins: what was asked where it differs, and what was answered.
export function rowsOf(pins) {
  const asked = pins.map((pin) => leaves(pin.question));
  const names = [...new Set(asked.flatMap(Object.keys))].filter((name) => asked.length < 2 || asked[0][name] !== asked[1][name]);
  const rows = pins.length < 2 ? [] : names.map((name) => row(name, asked.map((each) => each[name] ?? "–")));
  return [...rows, ...ANSWERS.map(([name, read]) => row(name, pins.map(read)))];
}

const row = (name, values) => ({ name, values, differs: new Set(values).size > 1 });

// A value at the recommended size: of a run there, or between two runs ("≈").
export function atBest(pin, name, show) {
  const wanted = pin.sized?.recommended?.packets ?? pin.sized?.least?.packets, points = pin.points.filter((each) => each[name]);
  const above = points.find((each) => each.packets >= wanted), below = points.findLast((each) => each.packets <= wanted);
  if (!above || !below) return "–";
  if (above === below) return show(above[name].value);
  const part = Math.log(wanted / below.packets) / Math.log(above.packets / below.packets);
  return `≈ ${show(Number((below[name].value + part * (above[name].value - below[name].value)).toPrecision(3)))}`;
}

const size = (found) => (found ? `${count(found.packets)} packets (${seconds(found.seconds)})` : "none");
const ANSWERS = [
  ["recommended", (pin) => (pin.sized ? size(pin.sized.recommended) : "not yet known")],
  ["least", (pin) => (pin.sized ? size(pin.sized.least) : "not yet known")],
  ["utilization there", (pin) => atBest(pin, "utilization", percent)],
  ["loss there", (pin) => atBest(pin, "loss_rate", percent)],
  ["mean wait there", (pin) => atBest(pin, "queue_delay_mean", seconds)],
];

function cell(tag, text, attributes = {}) {
  const made = Object.assign(document.createElement(tag), { textContent: text });
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function tableOf(pins) {
  const table = document.createElement("table"), head = table.createTHead().insertRow();
  head.append(cell("td", ""), ...pins.map((pin, index) => cell("th", `${"AB"[index]}: ${pin.question.name ?? "scenario"}`, { scope: "col", class: `side${index}` })));
  const body = table.createTBody();
  for (const { name, values, differs } of rowsOf(pins)) {
    const line = body.insertRow();
    line.append(cell("th", name, { scope: "row" }));
    for (const value of values) {
      const made = line.insertCell();
      made.append(differs ? cell("mark", value) : value);
    }
  }
  return table;
}

export function drawPins(room, pins) {
  room.replaceChildren();
  if (!pins.length) return;
  const charts = document.createElement("div");
  room.append(tableOf(pins), charts);
  if (pins.length < 2) return;
  const points = pins.flatMap((pin, index) => pin.points.map((point) => ({ ...point, side: index ? "other" : "" })));
  const sizes = pins.flatMap((pin) => pin.laws.sizes).sort((a, b) => a - b);
  draw(charts, { sizes, points: points.sort((a, b) => a.packets - b.packets), laws: [], best: null, own: null, region: [], goals: {} });
}
