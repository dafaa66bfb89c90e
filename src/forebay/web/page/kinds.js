// The kinds of traffic as the form shows them: fields, and what a new class of the kind is.

import { put, share, shareText, spread, spreadText, whole } from "./question.js";

const text = { read: (typed) => typed.trim(), show: (value) => String(value ?? "") };
const range = { read: spread, show: spreadText };
const number = { read: whole, show: (value) => String(value ?? "") };
const part = { read: share, show: shareText };

const flows = (label) => ({ name: "flows", label, ...number, slider: "flows" });
const rtt = { name: "rtt", label: "Round trip", ...range, slider: "rtt" };
const load = { name: "load", label: "Load", ...part, slider: "load" };
const RANGE = { uniform: ["20 ms", "80 ms"] };

// `controls` adds the mix of congestion controls. A name with a dot is a part of a table.
export const KINDS = {
  long: { title: "Long TCP flows", controls: true, fields: [flows("Flows"), rtt],
    fresh: { kind: "long", flows: 50, congestion_control: "cubic", rtt: RANGE } },
  short: { title: "Short TCP flows", controls: true, fields: [load, { name: "length", label: "Size", ...text }, rtt],
    fresh: { kind: "short", load: 0.5, length: { pareto: { mean: "100 kB", shape: 1.5, high: "10 MB" } }, congestion_control: "cubic", rtt: RANGE } },
  session: { title: "Users that pause", controls: true, fields: [flows("Users"), { name: "file", label: "File", ...text }, { name: "think", label: "Pause", ...range }, rtt],
    fresh: { kind: "session", flows: 50, file: "100 kB", think: { exponential: "2 s" }, congestion_control: "cubic", rtt: RANGE } },
  udp: { title: "Datagrams, such as voice", fields: [flows("Senders"), { name: "rate", label: "Rate of each", ...text }, { name: "packet", label: "Packet", ...text }],
    fresh: { kind: "udp", flows: 30, rate: "90 kbit/s", packet: "214 B" } },
  video: { title: "Video", fields: [flows("Streams"), { name: "rate", label: "Rate of each", ...text }],
    fresh: { kind: "video", flows: 10, rate: "5 Mbit/s" } },
  onoff: { title: "Datagrams, on and off", fields: [flows("Senders"), { name: "peak_rate", label: "Peak rate", ...text }, { name: "on", label: "On", ...range }, { name: "off", label: "Off", ...range }],
    fresh: { kind: "onoff", flows: 20, peak_rate: "1 Mbit/s", on: { exponential: "350 ms" }, off: { exponential: "650 ms" } } },
};

// The fields of a class; those of a heavy tail stand in the place of its one text.
export function fieldsOf(group) {
  const listed = (KINDS[group.kind ?? "long"]?.fields ?? []).filter((field) => !(field.name === "load" && group.load === undefined) && !(field.name === "rate" && group.rate === undefined && group.load !== undefined));
  const loaded = group.load !== undefined && !listed.some((field) => field.name === "load") ? [load] : [];
  return [...listed, ...loaded].flatMap((field) => {
    const law = typeof group[field.name] === "object" && field.name !== "rtt" ? Object.keys(group[field.name])[0] : null;
    if (!law || !group[field.name][law]?.mean) return law ? [{ ...field, ...range }] : [field];
    const within = (name, label) => ({ ...text, name: `${field.name}.${law}.${name}`, label });
    const high = group[field.name][law].high === undefined ? [] : [within("high", `Largest ${field.label.toLowerCase()}`)];
    return [within("mean", `Mean ${field.label.toLowerCase()}`), ...high];
  });
}

// Another kind in a class's place; what both have is kept.
export function changed(group, kind) {
  const fresh = structuredClone(KINDS[kind].fresh);
  for (const name of ["rtt", "congestion_control", "name"]) {
    if (group[name] !== undefined && (name === "name" || name in fresh)) put(fresh, name, group[name]);
  }
  return fresh;
}
