// The page: one question, what is known of it so far, and what happens when it changes.

import { rows, showAnswer, showGuess, stale } from "./answer.js";
import { draw, KINDS, nearest, words } from "./chart.js";
import { listen, show, showError } from "./form.js";
import { byCurve, byLaws, target } from "./guess.js";
import { KINDS as TRAFFIC } from "./kinds.js";
import { askJson, GONE, stop, stream } from "./live.js";
import { drawPins } from "./pins.js";
import { count, duration, pack, seconds, unpack } from "./question.js";
import { listenToReplay, replayChanged } from "./replay.js";
import { listenToFiles, listenToTaking, taking } from "./take.js";

const $ = (id) => document.getElementById(id);
const SETTLES_MS = 120, MOST_PINS = 2;
const known = { laws: null, points: new Map(), sized: null, marked: null, opened: null };
const pins = [];
let question, presets, turn = 0, timer = 0, frame = 0, later = null, asking = false, again = false, began = 0, expected = 0;

function status(text, stage = "") {
  document.querySelector("[data-testid=status]").textContent = text;
  document.body.dataset.status = text;
  $("stage").textContent = stage && `· ${stage}`;
}

// Laws at once and one question at a time; packets when the hand rests for a moment.
function changed() {
  turn += 1;
  stop();
  clearTimeout(timer);
  status("running", "laws");
  stale();
  known.sized = null;
  $("charts").classList.add("stale");
  taking({ question, budget: $("budget").value, toml: null, sized: null });
  replayChanged();
  $("share-link").href = `#${new URLSearchParams({ q: pack(question), ...($("budget").value && { budget: $("budget").value }) })}`;
  timer = setTimeout(simulate, SETTLES_MS);
  if (asking) again = true;
  else laws();
}

async function laws() {
  asking = true;
  const mine = turn, found = await askJson("/laws", question);
  if (!found.error) lawsKnown(found); // one behind the hand is still shown: the next is asked for
  else if (mine === turn) refused(found.error);
  asking = false;
  if (again) { again = false; laws(); }
}

function refused(error) {
  showError(error);
  clearTimeout(timer);
  stop();
  if (error === GONE) return status("idle", "no server");
  status("idle", "there is something to correct");
}

function lawsKnown(found) {
  showError(null);
  known.laws = found;
  taking({ toml: found.toml });
  rows("laws", found.laws.map((law) => [law.law, count(law.packets), law.holds ? "hold" : law.broken.join("; ")]), found.laws.map((law) => (law.holds ? "" : "broken")));
  $("regime").textContent = found.regime ? found.regime.why : "";
  guess(byLaws(found.laws), "By laws alone; nothing is simulated yet.");
  redraw();
}

const packet = () => ({ bytes: known.laws.packet_bytes, seconds: known.laws.packet_s });

function guess(packets, from) {
  if (!known.laws || known.sized) return;
  if (![question, ...question.traffic].some((each) => Object.keys(each.goals ?? {}).length)) showGuess(null, "Without a goal every buffer is large enough: tick one.", packet());
  else showGuess(packets, packets === null ? "No law whose assumptions hold gives a size; the search will." : from, packet());
}

const sorted = () => [...known.points.values()].sort((a, b) => a.packets - b.packets);

function view() {
  const goals = Object.fromEntries(KINDS.map(({ name }) => [name, target(question.goals?.[name], duration)]).filter(([, value]) => value !== null && value !== undefined));
  const best = known.sized?.recommended?.packets ?? null;
  return { sizes: known.laws.sizes, points: sorted(), laws: known.laws.laws, own: known.laws.buffer, best, region: known.sized?.region, goals, marked: known.marked?.packets };
}

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    if (!known.laws) return;
    draw($("charts"), view());
    $("readout").textContent = words(known.marked) || "Point at a curve, or use the arrow keys, to read a buffer's values.";
  });
}

// Points of the search come faster than a reader follows, and drawing takes the search's processors.
function redrawLater() {
  later ??= setTimeout(() => { later = null; redraw(); }, 250);
}

function simulate() {
  const mine = turn;
  history.replaceState(null, "", $("share-link").href); // browsers bear few of these in a second
  known.points.clear();
  known.marked = null;
  $("charts").classList.remove("stale");
  $("progress").value = 0;
  $("note").textContent = "";
  began = performance.now();
  expected = 0;
  stream("/answer", { budget: $("budget").value }, structuredClone(question), (name, data) => { if (mine === turn) heard[name]?.(data); });
}

const spent = () => (performance.now() - began) / 1000;
const limit = () => $("budget").value || "60 s";

function searching() {
  const about = expected ? ` of about ${seconds(Math.max(1, Math.round(expected)))}` : "";
  status("running", `searching, ${spent().toFixed(0)} s${about}, at most ${limit()}`);
}

const heard = {
  stage: ({ stage, windows }) => {
    if (stage !== "coarse") return searching();
    status("running", "first curve");
    $("note").textContent = `Dotted: ${windows}.`;
  },
  point: (point) => {
    const before = known.points.get(point.packets);
    if (before?.stage !== "fine" || point.stage === "fine") known.points.set(point.packets, point);
    if (!known.sized && point.stage === "coarse") guess(byCurve(sorted(), view().goals) ?? byLaws(known.laws.laws), `A guess ${point.replications ? "from short runs" : "by the atlas"}; the search shows what is true of it.`);
    if (point.stage === "coarse") redraw(); else redrawLater();
  },
  expect: (data) => { expected = data.seconds; searching(); },
  progress: ({ fraction }) => { $("progress").value = fraction; searching(); },
  "too-large": () => { $("note").textContent = "This link carries too many packets to simulate while you drag. The search uses smaller links of its kind."; },
  aims: ({ discipline }) => { $("note").textContent = `Sized is what ${discipline} aims at, in packets at line rate; its limit only guards. The search draws the curve.`; },
  sized: (found) => answered(found),
  failed: (error) => { showError(error); status("done", "without an answer"); },
  end: () => { if (document.body.dataset.status === "running") status("done", known.sized ? `after ${spent().toFixed(1)} s` : ""); },
};

// A search of more time, if the page may ask for it.
function offer(more) {
  $("more-time").hidden = !more;
  $("more-time").textContent = `Search for ${more}`;
  $("more-time").dataset.budget = more ?? "";
}

const LONGER = { "10 s": "60 s", "60 s": "3 min", "3 min": "10 min" };

function answered(found) {
  known.sized = found;
  if (!found.recommended && found.status === 3) offer(LONGER[limit()]);
  $("progress").value = 1;
  showAnswer(found);
  taking({ sized: found });
  if (found.curve.length) {
    known.points.clear();
    for (const point of found.curve) known.points.set(point.packets, { ...point, stage: "fine" });
    $("note").textContent = "";
  }
  redraw();
}

// A file that cannot be read is said at the top, and nothing is sized meanwhile.
function failed(name, error) {
  refused(error);
  status("idle", `${name} was not opened: ${error.text}`);
}

// What was opened is named where the start is chosen, and can be chosen again.
function named(name) {
  const all = $("preset"), old = all.querySelector("[value=opened]");
  const option = Object.assign(old ?? new Option("", "opened"), { text: name });
  if (!old) all.prepend(option);
  all.value = "opened";
}

// A question that is opened with its answer, which is not searched for again.
function open(asked, sized = null, name = "") {
  question = structuredClone(asked);
  if (name) { known.opened = [asked, sized, name]; named(name); } else $("opened").textContent = "";
  show(question, changed);
  changed();
  if (!sized) return;
  clearTimeout(timer);
  known.points.clear();
  known.marked = null;
  $("charts").classList.remove("stale");
  answered(sized);
  status("done", "a stored answer");
}

// The question of an address, whose budget the form takes; null without one.
function linked(address) {
  const parts = new URLSearchParams(new URL(address).hash.slice(1)), asked = unpack(parts.get("q") ?? "");
  if (asked) $("budget").value = [...$("budget").options].some((each) => each.value === parts.get("budget")) ? parts.get("budget") : "";
  return asked;
}

function pin() {
  if (!known.laws) return;
  if (pins.length === MOST_PINS) pins.shift();
  pins.push(structuredClone({ question, points: sorted(), sized: known.sized, laws: known.laws }));
  pinned();
}

function pinned() {
  $("unpin").disabled = !pins.length;
  $("beside-note").textContent = ["Pin one, change something (fq_codel for drop-tail, BBR for Reno), and pin again.", "Now change something, let it answer, and pin again.", "Marked: what differs. A third pin takes the place of the older one."][pins.length];
  drawPins($("beside"), pins);
}

function readPoints() {
  const charts = $("charts");
  charts.addEventListener("pointermove", (event) => {
    if (!known.laws) return;
    const box = charts.getBoundingClientRect(), place = event.clientX - box.left;
    known.marked = nearest(view(), box.width, place);
    redraw();
  });
  charts.addEventListener("pointerleave", () => { known.marked = null; redraw(); });
  charts.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], points = sorted();
    if (!step || !points.length) return;
    event.preventDefault();
    const place = known.marked ? points.findIndex((each) => each.packets === known.marked.packets) + step : step > 0 ? 0 : points.length - 1;
    known.marked = points[Math.min(points.length - 1, Math.max(0, place))];
    redraw();
  });
}

function starts({ shipped = [], platforms = [] }) {
  const groups = [["Presets", presets.map((each, index) => [each.name, index])], ["Shipped scenarios", shipped.map((name) => [name, `shipped:${name}`])]];
  $("preset").replaceChildren(...groups.map(([label, options]) => {
    const group = Object.assign(document.createElement("optgroup"), { label });
    group.append(...options.map(([name, value]) => new Option(name, value)));
    return group;
  }));
  $("platform").replaceChildren(...platforms.map((name) => new Option(name, name)));
}

async function choose() {
  const chosen = $("preset").value;
  if (chosen === "opened") return open(...known.opened);
  if (!chosen.startsWith("shipped:")) return open(presets[chosen]);
  const found = await askJson("/shipped", { name: chosen.slice("shipped:".length) });
  if ($("preset").value !== chosen) return; // another was chosen meanwhile
  found.error ? showError(found.error) : open(found.question);
}

function wire() {
  const current = () => question;
  $("preset").addEventListener("input", choose);
  $("add-class").addEventListener("click", () => { question.traffic.push(structuredClone(TRAFFIC.long.fresh)); show(question, changed); changed(); });
  $("budget").addEventListener("input", changed);
  $("more-time").addEventListener("click", () => { $("budget").value = $("more-time").dataset.budget; if ($("budget").selectedIndex < 0) $("budget").value = ""; changed(); });
  $("question").addEventListener("submit", (event) => event.preventDefault());
  $("pin").addEventListener("click", pin);
  $("unpin").addEventListener("click", () => { pins.length = 0; pinned(); });
  window.addEventListener("hashchange", (event) => { const asked = linked(event.newURL); if (asked) open(asked); });
  window.addEventListener("resize", () => { redraw(); pinned(); });
  listen(current, changed);
  listenToFiles({ shown: () => question, open, failed });
  listenToTaking(status);
  listenToReplay({ question: current, own: () => known.laws?.buffer, sized: () => known.sized });
  readPoints();
}

async function begin() {
  presets = await (await fetch("/page/presets.json")).json();
  starts({});
  wire();
  open(linked(location.href) ?? presets[0]);
  const found = await fetch("/start").then((answer) => answer.json(), () => ({})), chosen = $("preset").value;
  starts(found);
  $("preset").value = chosen;
}

begin();
