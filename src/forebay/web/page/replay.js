// The replay's controls: it is asked for, scrubbed by a slider, and played.

import { stream, stop } from "./live.js";
import { about, drawReplay, moment } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const PLAYS_MS = 12_000;
let replay = null, playing = 0, frame = 0, known;

export function listenToReplay(context) {
  known = context;
  $("replay").addEventListener("click", ask);
  $("time").addEventListener("input", () => { pause(); redraw(); });
  $("play").addEventListener("click", () => (playing ? pause() : play()));
  window.addEventListener("resize", redraw);
}

// The question has changed: what is replayed is no longer of it.
export function replayChanged() {
  pause();
  stop("/replay");
  if (replay) $("replay-note").textContent = "The scenario has changed since this was replayed.";
  $("replay").disabled = false;
}

function packets() {
  const chosen = $("replay-buffer").value, sized = known.sized();
  return { own: known.own(), best: sized?.recommended?.packets, least: sized?.least?.packets }[chosen];
}

function ask() {
  const wanted = packets(), chosen = $("replay-buffer").value, sized = known.sized();
  if (!wanted) { $("replay-note").textContent = "There is no such size yet."; return; }
  const question = structuredClone(known.question()), aims = sized?.aims && chosen !== "own";
  if (aims && chosen === "least") { $("replay-note").textContent = "The target is sized here: replay your queue or the recommended one."; return; }
  // What is recommended of an AQM is its target, and no limit of packets.
  if (aims) question.queue = { ...question.queue, ...sized.queue };
  $("replay").disabled = true;
  stream("/replay", aims ? {} : { packets: String(wanted) }, question, (name, data) => heard[name]?.(data));
}

const heard = {
  progress: ({ fraction }) => { $("replay-note").textContent = `Simulating: ${Math.round(100 * fraction)} %`; },
  failed: (error) => { $("replay-note").textContent = error.text; },
  end: () => { $("replay").disabled = false; },
  replayed: (found) => {
    replay = found;
    $("replayed").hidden = false;
    $("replay-note").textContent = about(found);
    Object.assign($("time"), { max: found.at_s.length - 1, value: found.at_s.length - 1 });
    const flows = Object.keys(found.windows).map((flow, index) => Object.assign(document.createElement("li"), { className: `flow${index}`, textContent: `window of flow ${flow}` }));
    $("flows-legend").replaceChildren(...flows);
    redraw();
  },
};

function redraw() {
  if (!replay) return;
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    const at = Number($("time").value);
    drawReplay($("timeline"), replay, at);
    $("now").textContent = moment(replay, at);
    $("time").setAttribute("aria-valuetext", $("now").textContent);
  });
}

function pause() {
  clearInterval(playing);
  playing = 0;
  $("play").textContent = "Play";
}

function play() {
  const last = Number($("time").max);
  if (Number($("time").value) === last) $("time").value = 0;
  $("play").textContent = "Pause";
  playing = setInterval(() => {
    $("time").value = Number($("time").value) + 2;
    redraw();
    if (Number($("time").value) >= last) pause();
  }, (2 * PLAYS_MS) / last);
}
