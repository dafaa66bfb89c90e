// The question: a scenario as in a file. Texts of the form become its values, and values texts.

const UNITS = { bit: 1, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };

export const at = (tree, path) => path.split(".").reduce((node, part) => node?.[part], tree);

export function put(tree, path, value) {
  const parts = path.split("."), last = parts.pop();
  const node = parts.reduce((part, name) => (part[name] ??= {}), tree);
  if (value === undefined) delete node[last];
  else node[last] = value;
}

// "20 ms to 180 ms" is a range; all else goes to the server, which knows what is wrong with it.
export function spread(text) {
  const ends = text.split(/\s+to\s+|\s*[–…]\s*/);
  return ends.length === 2 ? { uniform: ends.map((end) => end.trim()) } : text.trim();
}

export const spreadText = (value) => (Array.isArray(value?.uniform) ? value.uniform.join(" to ") : String(value ?? "100 ms"));

export const whole = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text.trim());

export function bits(text) {
  const found = /^\s*([\d.]+)\s*([kMGT]?bit)\/s\s*$/.exec(text ?? "");
  return found ? Number(found[1]) * UNITS[found[2]] : null;
}

export function rateText(bps) {
  const [name, factor] = Object.entries(UNITS).reverse().find(([, each]) => bps >= each) ?? ["bit", 1];
  return `${Number((bps / factor).toPrecision(3))} ${name}/s`;
}

export function seconds(value) {
  if (value < 1e-3) return `${Number((value * 1e6).toPrecision(3))} µs`;
  return value < 1 ? `${Number((value * 1e3).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;
}

export function pack(question) {
  const bytes = new TextEncoder().encode(JSON.stringify(question));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
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
