// The form: fields of the question, and errors beside the field that they are about.

import { changed as ofKind, fieldsOf, KINDS } from "./kinds.js";
import { at, bits, middle, moved, put, rateText, share, shareText, spreadText } from "./question.js";

const CONTROLS = ["reno", "cubic", "bbr", "bbr3", "dctcp"];
const DISCIPLINES = ["drop-tail", "codel", "fq_codel", "pie", "red"];
const GOALS = [
  { name: "utilization", label: "Used at least", start: "98 %", percent: true },
  { name: "loss_rate", label: "Lost at most", start: "1 %", percent: true },
  { name: "queue_delay_mean", label: "Mean wait at most", start: "10 ms" },
  { name: "queue_delay_p99", label: "p99 wait at most", start: "20 ms" },
];
const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const choices = (select, names, chosen) => {
  select.replaceChildren(...[...new Set([...names, chosen])].filter(Boolean).map((name) => make("option", { value: name }, name)));
  select.value = chosen;
};

// Shows a question; changed() is called after every change that a person makes.
export function show(question, changed) {
  $("link-rate").value = at(question, "link.rate") ?? "";
  $("buffer").value = at(question, "queue.size") ?? "";
  choices($("discipline"), DISCIPLINES, at(question, "queue.discipline") ?? "drop-tail");
  $("warmup").value = at(question, "measure.warmup") ?? "";
  $("window").value = at(question, "measure.duration") ?? "";
  $("rate-slider").value = Math.log10(bits(question.link.rate) ?? 1e8);
  $("buffer-slider").value = Math.log10(parseFloat(question.queue?.size) || 1);
  $("classes").replaceChildren(...question.traffic.map((group, index) => card(question, group, index, changed)));
  $("goals").replaceChildren(...GOALS.map((goal) => goalRow(question, goal, changed)));
}

// A window that nobody sets is left to the search; an empty table would be a window that is set.
function withoutEmpty(question) {
  if (question.measure && !Object.keys(question.measure).length) delete question.measure;
}

export function listen(current, changed) {
  const typed = (id, path, read) => $(id).addEventListener("input", () => { put(current(), path, read($(id).value)); withoutEmpty(current()); changed(); });
  typed("link-rate", "link.rate", (text) => text.trim());
  typed("buffer", "queue.size", (text) => text.trim());
  typed("discipline", "queue.discipline", (text) => text);
  typed("warmup", "measure.warmup", (text) => text.trim() || undefined);
  typed("window", "measure.duration", (text) => text.trim() || undefined);
  const slid = (id, field, path, text) => $(id).addEventListener("input", () => {
    $(field).value = text(10 ** Number($(id).value));
    put(current(), path, $(field).value);
    changed();
  });
  slid("rate-slider", "link-rate", "link.rate", rateText);
  slid("buffer-slider", "buffer", "queue.size", (packets) => `${Math.max(1, Math.round(packets))} packets`);
}

function card(question, group, index, changed) {
  const kind = make("select", { id: `kind-${index}` });
  kind.append(...Object.entries(KINDS).map(([name, each]) => make("option", { value: name }, each.title)));
  if (!KINDS[group.kind ?? "long"]) kind.append(make("option", { value: group.kind }, group.kind));
  kind.value = group.kind ?? "long";
  const again = () => { show(question, changed); changed(); };
  kind.addEventListener("input", () => { question.traffic[index] = ofKind(group, kind.value); again(); $(`kind-${index}`).focus(); });
  const name = question.traffic.length > 1 ? `Traffic ${index + 1}${group.name ? `: ${group.name}` : ""}` : "Traffic";
  const parts = [make("legend", {}, name), make("label", { for: kind.id }, "Kind"), kind];
  for (const each of fieldsOf(group)) parts.push(...field(group, index, each, changed));
  if (KINDS[group.kind ?? "long"]?.controls) parts.push(...controls(group, index, changed));
  parts.push(make("p", { class: "error", "data-for": `traffic.${index}` }));
  if (question.traffic.length > 1) {
    const remove = make("button", { type: "button" }, `Remove ${name.toLowerCase()}`);
    remove.addEventListener("click", () => { question.traffic.splice(index, 1); again(); });
    parts.push(remove);
  }
  return make("fieldset", {}, ...parts);
}

const TESTED = { flows: "flows", rtt: "rtt" };

function field(group, index, each, changed) {
  const id = `${each.name.replaceAll(".", "-")}-${index}`, path = `traffic.${index}.${each.name}`;
  const testid = index === 0 && TESTED[each.name] ? { "data-testid": TESTED[each.name] } : {};
  const input = make("input", { id, "data-path": path, spellcheck: "false", "aria-describedby": `error-${id}`, ...testid });
  input.value = each.show(at(group, each.name));
  const slider = each.slider ? sliderOf(group, each, index, input, changed) : null;
  input.addEventListener("input", () => {
    put(group, each.name, each.read(input.value));
    const place = slider && SLIDERS[each.slider].from(at(group, each.name));
    if (Number.isFinite(place)) slider.value = place;
    changed();
  });
  return [make("label", { for: id }, each.label), input, ...(slider ? [slider] : []), make("p", { class: "error", id: `error-${id}`, "data-for": path })];
}

// How a slider moves a value: its range, its place for a value, and the value of a place.
const SLIDERS = {
  flows: { min: 0, max: 4.7, step: 0.01, from: (value) => Math.log10(Number(value) || 1), to: (place) => Math.round(10 ** place) },
  rtt: { min: -4, max: 0.3, step: 0.01, from: (value) => Math.log10(middle(value) || 0.1), to: (place, value) => moved(value, 10 ** place) },
  load: { min: 0.01, max: 1.2, step: 0.01, from: (value) => Number(value) || 0.5, to: (place) => Number(place.toFixed(2)) },
};

function sliderOf(group, each, index, input, changed) {
  const { min, max, step, from, to } = SLIDERS[each.slider];
  const slider = make("input", { type: "range", min, max, step, "aria-label": `Slider of ${each.label.toLowerCase()}${index ? ` ${index + 1}` : ""}` });
  slider.value = from(at(group, each.name));
  slider.addEventListener("input", () => {
    put(group, each.name, to(Number(slider.value), at(group, each.name)));
    input.value = each.show(at(group, each.name));
    changed();
  });
  return slider;
}

function controls(group, index, changed) {
  const mix = typeof group.congestion_control === "object" ? Object.entries(group.congestion_control) : [[group.congestion_control ?? "reno", 1]];
  const main = make("select", { id: `control-${index}` }), other = make("select", { id: `other-${index}` });
  const part = make("input", { type: "range", id: `share-${index}`, min: 1, max: 99, step: 1 });
  choices(main, CONTROLS, mix[0][0]);
  choices(other, ["nothing else", ...CONTROLS], mix[1]?.[0] ?? "nothing else");
  part.value = 100 * (mix[1]?.[1] ?? 0.2);
  const told = make("label", { for: part.id }, "");
  const mixed = () => {
    const both = other.value !== "nothing else" && other.value !== main.value, some = Number(part.value) / 100;
    part.disabled = !both;
    told.textContent = both ? `${part.value} % ${other.value}` : "Share";
    return both ? { [main.value]: Number((1 - some).toFixed(2)), [other.value]: some } : main.value;
  };
  mixed();
  for (const each of [main, other, part]) each.addEventListener("input", () => { group.congestion_control = mixed(); changed(); });
  return [
    make("label", { for: main.id }, "Mostly"), main, make("label", { for: other.id }, "And some"), other, told, part,
    make("p", { class: "error", "data-for": `traffic.${index}.congestion_control` }),
  ];
}

function goalRow(question, goal, changed) {
  const value = question.goals?.[goal.name], id = `goal-${goal.name}`;
  const shown = value === undefined ? goal.start : goal.percent ? shareText(value) : spreadText(value);
  const tick = make("input", { type: "checkbox", id: `${id}-on` });
  const text = make("input", { id, "data-testid": `goal-${goal.name.replaceAll("_", "-")}`, "aria-label": `${goal.label}: value`, "data-path": `goals.${goal.name}` });
  tick.checked = value !== undefined;
  text.value = shown;
  const read = () => (goal.percent ? share(text.value) : text.value.trim());
  const change = () => { question.goals ??= {}; put(question, `goals.${goal.name}`, tick.checked ? read() : undefined); changed(); };
  tick.addEventListener("input", change);
  text.addEventListener("input", () => { tick.checked = true; change(); });
  return make("div", { class: "goal" }, make("label", {}, tick, goal.label), text, make("p", { class: "error", "data-for": `goals.${goal.name}` }));
}

// Puts an error beside the most exact field that it names; without an error all are cleared.
export function showError(error) {
  const rooms = [...document.querySelectorAll("[data-for]")];
  for (const room of rooms) { room.textContent = ""; room.removeAttribute("data-testid"); }
  for (const input of document.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  if (!error) return;
  const named = error.field ?? "";
  const about = (path) => path === "" || named === path || named.startsWith(`${path}.`);
  const room = rooms.filter((each) => about(each.dataset.for)).sort((a, b) => b.dataset.for.length - a.dataset.for.length)[0];
  const inputs = [...document.querySelectorAll("[data-path]")].filter((each) => each.dataset.path && about(each.dataset.path));
  // What has no place of its own in the form is named.
  const isShown = named !== "" && (room.dataset.for === named || inputs.length > 0);
  room.textContent = isShown && error.hint ? `${error.wrong}; ${error.hint}` : error.text;
  room.dataset.testid = "field-error";
  inputs.sort((a, b) => b.dataset.path.length - a.dataset.path.length)[0]?.setAttribute("aria-invalid", "true");
}
