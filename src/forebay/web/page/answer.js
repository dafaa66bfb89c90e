// The answer's card: a guess while it is one, the recommended size, and why.

import { count, percent, seconds } from "./question.js";

const $ = (id) => document.getElementById(id);

export function list(id, texts) {
  $(id).replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

// The body of a table from the texts of its cells; names are the classes of its rows.
export function rows(id, texts, names = []) {
  document.querySelector(`#${id} tbody`).replaceChildren(...texts.map((cells, index) => {
    const row = Object.assign(document.createElement("tr"), { className: names[index] ?? "" });
    for (const text of cells) row.insertCell().textContent = text;
    return row;
  }));
}

const PRICE = [["utilization", percent], ["loss_rate", percent], ["queue_delay_mean", seconds], ["queue_delay_p99", seconds]];

export function bytes(value) {
  const [unit, factor] = value >= 1e9 ? ["GB", 1e9] : value >= 1e6 ? ["MB", 1e6] : value >= 1e3 ? ["kB", 1e3] : ["B", 1];
  return `${Number((value / factor).toPrecision(3))} ${unit}`;
}

// A size that nothing has shown yet: laws', or that of a quick curve.
export function showGuess(packets, from, packet) {
  const card = $("answer");
  card.classList.add("guess");
  card.classList.remove("stale");
  $("answer-label").textContent = "First guess";
  document.querySelector("#answer .unit").textContent = packets === null ? "" : "packets";
  $("answer-packets").textContent = packets === null ? "–" : `≈ ${count(packets)}`;
  $("answer-amount").textContent = packets === null ? "" : `${bytes(packets * packet.bytes)}, ${seconds(packets * packet.seconds)} at line rate`;
  $("headline").textContent = from;
  $("least-packets").textContent = "–";
  $("least-range").textContent = "";
  $("binds").textContent = "–";
}

export function stale() {
  $("answer").classList.add("stale");
  $("evidence").hidden = true;
  $("more-time").hidden = true;
}

export function showAnswer(found) {
  const best = found.recommended, least = found.least;
  $("answer").classList.remove("stale");
  $("answer").classList.toggle("guess", !best);
  $("answer-label").textContent = found.aims ? "Recommended target" : "Recommended buffer";
  $("answer-packets").textContent = best ? best.packets : "–";
  document.querySelector("#answer .unit").textContent = !best ? "" : best.packets === 1 ? "packet" : "packets";
  $("answer-amount").textContent = best ? `${bytes(best.bytes)}, ${seconds(best.seconds)} at line rate` : "";
  $("headline").textContent = found.headline;
  $("least-packets").textContent = least ? least.packets : "–";
  $("least-range").textContent = least && least.low < least.high ? `, between ${count(least.low)} and ${count(least.high)}${found.guess ? ": a guess" : ""}` : "";
  $("binds").textContent = found.goals.filter((goal) => goal.binding).map(goalWords).join("; ") || "no goal";
  list("sentences", found.sentences);
  $("price").hidden = !found.price.length;
  $("price-of").textContent = found.aims ? "Target, packets" : "Packets";
  rows("price", found.price.map((each) => [each.why, `${each.approximate ? "≈ " : ""}${count(each.packets)}`, ...PRICE.map(([name, show]) => (each[name] ? show(each[name].value) : "–"))]));
  list("relaxations", found.relaxations.map(relaxation));
  $("relax-title").hidden = !found.relaxations.length;
  $("evidence").hidden = false;
}

const amount = (unit, value) => (unit === "s" ? seconds(value) : unit ? `${Number(value.toPrecision(4))} ${unit}` : `${Number((100 * value).toPrecision(4))} %`);

export function goalWords(goal) {
  const reached = goal.reached ? `, reached ${amount(goal.unit, goal.reached.value)}` : "";
  return `${goal.title} ${goal.sense} ${amount(goal.unit, goal.target)}${reached}`;
}

function relaxation(each) {
  if (each.relaxed === null) return `${each.title}: relaxing it alone does not help`;
  return `${each.title}: ${each.sense} ${amount(each.unit, each.relaxed)}, with ${count(each.packets)} packets`;
}
