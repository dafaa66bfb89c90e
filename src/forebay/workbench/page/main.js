// The page: one question, what is known of it so far, and what happens when it changes.

import { draw } from "./chart.js";
import { listen, show, showError } from "./form.js";
import { askAnswer, askLaws, stop } from "./live.js";
import { pack, seconds, unpack } from "./question.js";

const $ = (id) => document.getElementById(id);
const SETTLES_MS = 120;
const known = { laws: null, points: new Map(), sized: null };
let question, presets, turn = 0, timer = 0, frame = 0, asking = false, again = false;

function status(text, stage = "") {
  document.querySelector("[data-testid=status]").textContent = text;
  document.body.dataset.status = text;
  $("stage").textContent = stage;
}

// Laws at once and one question at a time; packets when the hand rests for a moment.
function changed() {
  turn += 1;
  stop();
  clearTimeout(timer);
  status("running", "laws");
  $("answer").classList.add("stale");
  $("export-json").disabled = true;
  const packed = `#q=${pack(question)}`;
  history.replaceState(null, "", packed);
  $("share-link").href = packed;
  timer = setTimeout(simulate, SETTLES_MS);
  if (asking) again = true;
  else laws();
}

async function laws() {
  asking = true;
  const mine = turn;
  try {
    const found = await askLaws(question);
    if (mine === turn) found.error ? refused(found.error) : lawsKnown(found);
  } catch {
    refused({ field: "", text: "the server does not answer; start forebay serve again" });
  }
  asking = false;
  if (again) { again = false; laws(); }
}

function refused(error) {
  showError(error);
  clearTimeout(timer);
  stop();
  status("idle", "there is something to correct");
}

function lawsKnown(found) {
  showError(null);
  known.laws = found;
  const rows = found.laws.map((law) => {
    const row = document.createElement("tr");
    row.className = law.holds ? "" : "broken";
    for (const text of [law.law, law.packets.toLocaleString("en"), law.holds ? "hold" : law.broken.join("; ")]) row.insertCell().textContent = text;
    return row;
  });
  document.querySelector("#laws tbody").replaceChildren(...rows);
  $("regime").textContent = found.regime ? found.regime.why : "";
  redraw();
}

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    if (!known.laws) return;
    const points = [...known.points.values()].sort((a, b) => a.packets - b.packets);
    const best = known.sized?.recommended?.packets ?? null;
    draw($("charts"), { sizes: known.laws.sizes, points, laws: known.laws.laws, own: known.laws.buffer, best, region: known.sized?.region, goals: question.goals ?? {} });
  });
}

function simulate() {
  const mine = turn;
  known.points.clear();
  known.sized = null;
  $("note").textContent = "";
  $("progress").value = 0;
  askAnswer(structuredClone(question), (name, data) => { if (mine === turn) heard[name]?.(data); });
}

const STAGES = { coarse: "first curve", fine: "bands", sizing: "searching" };
const heard = {
  stage: ({ stage }) => status("running", STAGES[stage]),
  point: (point) => { known.points.set(point.packets, point); redraw(); },
  progress: ({ fraction }) => { $("progress").value = fraction; },
  "too-large": ({ text }) => { $("note").textContent = `This link is too large to simulate while you drag: the search below uses smaller links of its kind. (${text})`; },
  sized: (found) => { known.sized = found; answered(found); },
  failed: (error) => { showError(error); status("done", "without an answer"); },
  end: () => { if (known.sized) status("done"); },
};

function answered(found) {
  const best = found.recommended, least = found.least;
  $("answer").classList.remove("stale");
  $("answer").classList.toggle("guess", !best);
  $("answer-packets").textContent = best ? best.packets : "none";
  $("answer-amount").textContent = best ? `${(best.bytes / 1e6).toPrecision(3)} MB, ${seconds(best.seconds)} at line rate` : "";
  $("headline").textContent = best ? found.sentences[0] : found.headline;
  $("least-packets").textContent = least ? least.packets : "none";
  $("least-range").textContent = least && least.low < least.high ? `, between ${least.low} and ${least.high}` : "";
  $("progress").value = 1;
  list("sentences", [...found.sentences.slice(best ? 1 : 0), ...found.assumptions.map((each) => `Assumed: ${each}.`)]);
  const gives = found.relaxations.map((each) => `${each.title || each.name.replaceAll("_", " ")}: ${each.relaxed === null ? "relaxing it alone does not help" : `${each.sense} ${each.unit === "s" ? seconds(each.relaxed) : Number(each.relaxed.toPrecision(4))}, with ${each.packets} packets`}`);
  list("relaxations", gives);
  $("relax-title").hidden = !gives.length;
  $("evidence").hidden = false;
  $("export-json").disabled = false;
  if (!found.scaled) {
    known.points.clear();
    for (const point of found.curve) known.points.set(point.packets, point);
  }
  redraw();
}

function list(id, texts) {
  $(id).replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

function save(name, text) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function open(asked) {
  question = structuredClone(asked);
  show(question, changed);
  changed();
}

const linked = () => unpack(location.hash.startsWith("#q=") ? location.hash.slice(3) : "");

async function begin() {
  presets = await (await fetch("/page/presets.json")).json();
  $("preset").append(...presets.map((each, index) => new Option(each.name, index)));
  $("preset").addEventListener("input", () => open(presets[$("preset").value]));
  $("add-class").addEventListener("click", () => { question.traffic.push({ kind: "long", flows: 50, congestion_control: "bbr", rtt: { uniform: ["20 ms", "80 ms"] } }); open(question); });
  $("export-toml").addEventListener("click", () => save("scenario.toml", known.laws?.toml ?? ""));
  $("export-json").addEventListener("click", () => save("answer.json", known.sized.document));
  $("share-link").addEventListener("click", (event) => { event.preventDefault(); navigator.clipboard?.writeText($("share-link").href); status(document.body.dataset.status, "link copied"); });
  $("question").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { const asked = linked(); if (asked) open(asked); });
  window.addEventListener("resize", redraw);
  listen(() => question, changed);
  open(linked() ?? presets[0]);
}

begin();
