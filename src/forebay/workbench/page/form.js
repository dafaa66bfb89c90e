// The form: fields of the question, and errors beside the field that they are about.

import { at, bits, put, rateText, spread, spreadText, whole } from "./question.js";

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
  $("link-rate").value = at(question, "link.rate");
  $("buffer").value = at(question, "queue.size") ?? "";
  choices($("discipline"), DISCIPLINES, at(question, "queue.discipline") ?? "drop-tail");
  slide($("rate-slider"), Math.log10(bits(question.link.rate) ?? 1e8));
  slide($("buffer-slider"), Math.log10(parseFloat(question.queue?.size) || 1));
  $("classes").replaceChildren(...question.traffic.map((group, index) => card(question, group, index, changed)));
  $("goals").replaceChildren(...GOALS.map((goal) => goalRow(question, goal, changed)));
}

const slide = (slider, value) => { slider.value = value; };

export function listen(current, changed) {
  const typed = (id, path, read) => $(id).addEventListener("input", () => { put(current(), path, read($(id).value)); changed(); });
  typed("link-rate", "link.rate", (text) => text.trim());
  typed("buffer", "queue.size", (text) => text.trim());
  typed("discipline", "queue.discipline", (text) => text);
  const slid = (id, field, path, text) => $(id).addEventListener("input", () => {
    $(field).value = text(10 ** Number($(id).value));
    put(current(), path, $(field).value);
    changed();
  });
  slid("rate-slider", "link-rate", "link.rate", rateText);
  slid("buffer-slider", "buffer", "queue.size", (packets) => `${Math.max(1, Math.round(packets))} packets`);
}

function field(label, id, testid, value, path, input) {
  const made = make("input", { id, "data-path": path, spellcheck: "false", ...(testid ? { "data-testid": testid } : {}) });
  made.value = value;
  made.addEventListener("input", () => input(made.value));
  return [make("label", { for: id }, label), made, make("p", { class: "error", "data-for": path })];
}

function card(question, group, index, changed) {
  const first = index === 0, path = `traffic.${index}`;
  const set = (name, value) => { group[name] = value; changed(); };
  const parts = [make("legend", {}, group.kind === "long" ? `TCP flows${first ? "" : ` ${index + 1}`}` : `${group.name ?? group.kind}: ${group.kind}`)];
  parts.push(...field("Flows", `flows-${index}`, first && "flows", group.flows, `${path}.flows`, (text) => set("flows", whole(text))));
  const flows = parts.find((part) => part.id === `flows-${index}`);
  const slider = make("input", { type: "range", min: 0, max: 4.7, step: 0.01, "aria-label": `Flows ${index + 1}, slider` });
  slider.value = Math.log10(group.flows || 1);
  slider.addEventListener("input", () => { flows.value = Math.round(10 ** Number(slider.value)); set("flows", Number(flows.value)); });
  parts.push(slider);
  if (group.kind === "long") parts.push(...tcp(group, index, path, first, set));
  else if (group.rate) parts.push(...field("Rate of each", `rate-${index}`, null, group.rate, `${path}.rate`, (text) => set("rate", text.trim())));
  if (question.traffic.length > 1) {
    const remove = make("button", { type: "button" }, "Remove");
    remove.addEventListener("click", () => { question.traffic.splice(index, 1); show(question, changed); changed(); });
    parts.push(remove);
  }
  return make("fieldset", {}, ...parts);
}

function tcp(group, index, path, first, set) {
  const mix = typeof group.congestion_control === "object" ? Object.entries(group.congestion_control) : [[group.congestion_control ?? "reno", 1]];
  const main = make("select", { id: `control-${index}` }), other = make("select", { id: `other-${index}` });
  const share = make("input", { type: "range", id: `share-${index}`, min: 1, max: 99, step: 1, "aria-label": "Share of the second control, per cent" });
  choices(main, CONTROLS, mix[0][0]);
  choices(other, ["nothing else", ...CONTROLS], mix[1]?.[0] ?? "nothing else");
  share.value = 100 * (mix[1]?.[1] ?? 0.2);
  const told = make("label", { for: share.id }, "");
  const mixed = () => {
    const both = other.value !== "nothing else" && other.value !== main.value, part = Number(share.value) / 100;
    share.disabled = !both;
    told.textContent = both ? `${share.value} % ${other.value}` : "Share";
    return both ? { [main.value]: Number((1 - part).toFixed(2)), [other.value]: part } : main.value;
  };
  mixed();
  for (const each of [main, other, share]) each.addEventListener("input", () => set("congestion_control", mixed()));
  return [
    ...field("Round trip", `rtt-${index}`, first && "rtt", spreadText(group.rtt), `${path}.rtt`, (text) => set("rtt", spread(text))),
    make("label", { for: main.id }, "Mostly"), main, make("label", { for: other.id }, "And some"), other, told, share,
    make("p", { class: "error", "data-for": `${path}.congestion_control` }),
  ];
}

function goalRow(question, goal, changed) {
  const value = question.goals?.[goal.name], id = `goal-${goal.name}`;
  const shown = value === undefined ? goal.start : goal.percent && typeof value === "number" ? `${Number((100 * value).toPrecision(6))} %` : String(value);
  const tick = make("input", { type: "checkbox", id: `${id}-on` }), text = make("input", { id, "data-testid": `goal-${goal.name.replaceAll("_", "-")}`, "aria-label": goal.label, "data-path": `goals.${goal.name}` });
  tick.checked = value !== undefined;
  text.value = shown;
  const change = () => { put((question.goals ??= {}, question), `goals.${goal.name}`, tick.checked ? read(goal, text.value) : undefined); changed(); };
  tick.addEventListener("input", change);
  text.addEventListener("input", () => { tick.checked = true; change(); });
  return make("div", { class: "goal" }, make("label", {}, tick, goal.label), text, make("p", { class: "error", "data-for": `goals.${goal.name}` }));
}

function read(goal, text) {
  if (!goal.percent) return text.trim();
  const found = /^\s*([\d.]+)\s*(%?)\s*$/.exec(text);
  return found ? Number((found[2] ? Number(found[1]) / 100 : Number(found[1])).toPrecision(12)) : text.trim();
}

// Puts an error beside the most exact field that it names; without an error all are cleared.
export function showError(error) {
  const rooms = [...document.querySelectorAll("[data-for]")];
  for (const room of rooms) { room.textContent = ""; room.removeAttribute("data-testid"); }
  for (const input of document.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  if (!error) return;
  const about = (path) => path === "" || error.field === path || error.field.startsWith(`${path}.`);
  const room = rooms.filter((each) => about(each.dataset.for)).sort((a, b) => b.dataset.for.length - a.dataset.for.length)[0];
  room.textContent = room.dataset.for && error.wrong ? `${error.wrong}; ${error.hint}` : error.text;
  room.dataset.testid = "field-error";
  document.querySelector(`[data-path="${CSS.escape(room.dataset.for).replaceAll("\\.", ".")}"]`)?.setAttribute("aria-invalid", "true");
}
