// The question: a scenario as in a file. Texts of the form become its values, and values texts.

const UNITS = { bit: 1, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };
const TIMES = { us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1 };

export const at = (tree, path) => path.split(".").reduce((node, part) => node?.[part], tree);

export function put(tree, path, value) {
  const parts = path.split("."), last = parts.pop();
  const node = parts.reduce((part, name) => (part[name] ??= {}), tree);
  if (value === undefined) delete node[last];
  else node[last] = value;
}

// "20 ms to 180 ms" is a range; all else goes to the server, which knows what is wrong with it.
export function spread(text) {
  const trimmed = text.trim(), ends = trimmed.split(/\s+to\s+|\s*[–…]\s*/);
  if (trimmed.startsWith("{")) try { return JSON.parse(trimmed); } catch { return trimmed; }
  return ends.length === 2 ? { uniform: ends.map((end) => end.trim()) } : trimmed;
}

export function spreadText(value) {
  if (Array.isArray(value?.uniform)) return value.uniform.join(" to ");
  return typeof value === "object" && value ? JSON.stringify(value) : String(value ?? "");
}

export const whole = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text.trim());

// "80 %" and "0.8" are shares; other text goes to the server.
export function share(text) {
  const found = /^\s*([\d.]+)\s*(%?)\s*$/.exec(text);
  return found ? Number((found[2] ? Number(found[1]) / 100 : Number(found[1])).toPrecision(12)) : text.trim();
}

export const shareText = (value) => (typeof value === "number" ? `${Number((100 * value).toPrecision(6))} %` : String(value ?? ""));

export function bits(text) {
  const found = /^\s*([\d.]+)\s*([kMGT]?bit)\/s\s*$/.exec(text ?? "");
  return found ? Number(found[1]) * UNITS[found[2]] : null;
}

export function rateText(bps) {
  const [name, factor] = Object.entries(UNITS).reverse().find(([, each]) => bps >= each) ?? ["bit", 1];
  return `${Number((bps / factor).toPrecision(3))} ${name}/s`;
}

export function duration(text) {
  const found = /^\s*([\d.]+)\s*(us|µs|ms|s)\s*$/.exec(text ?? "");
  return found ? Number(found[1]) * TIMES[found[2]] : null;
}

const ends = (value) => (Array.isArray(value?.uniform) ? value.uniform : [value]).map(duration);

// The middle of a round trip in seconds; null where it is no time or range.
export function middle(value) {
  const known = ends(value);
  return known.some((each) => each === null) ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
}

const timeText = (value) => seconds(value).replace("µs", "us");

// The same distribution about another middle.
export function moved(value, to) {
  const from = middle(value);
  if (!from) return timeText(to);
  const scaled = ends(value).map((each) => timeText((each * to) / from));
  return scaled.length === 2 ? { uniform: scaled } : scaled[0];
}

export function seconds(value) {
  if (value < 1e-3) return `${Number((value * 1e6).toPrecision(3))} µs`;
  return value < 1 ? `${Number((value * 1e3).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;
}

export const percent = (value) => `${Number((100 * value).toPrecision(4))} %`;

export const count = (value) => Number(value).toLocaleString("en");

// Every leaf of a question by its path, for the differences of two.
export function leaves(tree, path = "") {
  if (typeof tree !== "object" || tree === null) return { [path]: String(tree) };
  if (Array.isArray(tree.uniform)) return { [path]: spreadText(tree) };
  return Object.assign({}, ...Object.entries(tree).map(([name, each]) => leaves(each, path ? `${path}.${name}` : name)));
}

export function pack(question) {
  const bytes = new TextEncoder().encode(JSON.stringify(question));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// null for what is no question: a link may be cut off or made up.
export function unpack(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(bytes));
    return found && typeof found.link === "object" && Array.isArray(found.traffic) ? found : null;
  } catch {
    return null;
  }
}
