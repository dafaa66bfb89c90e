// Small tools of the charts: elements, scales, ticks.

const NS = "http://www.w3.org/2000/svg";

export function add(parent, tag, attributes, text) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

export function canvas(width, height, label) {
  return add(null, "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
}

// Round values from low to high, about `wanted` of them.
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-6);
  return Array.from({ length: Math.floor(high / step + 1e-6) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

// Values 1, 2, 5, 10, … of a logarithmic axis, thinned to what has room.
export function logTicks(low, high, room) {
  const all = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
  const inside = all.filter((tick) => tick >= low && tick <= high);
  return inside.length > room ? inside.filter((tick) => Number.isInteger(Math.log10(tick))) : inside;
}

export function linear([low, high], [from, to]) {
  const scale = (value) => from + ((value - low) / (high - low || 1)) * (to - from);
  scale.ends = [low, high];
  return scale;
}

export function logarithmic([low, high], [from, to]) {
  const scale = linear([Math.log(low), Math.log(high)], [from, to]);
  const across = (value) => scale(Math.log(value));
  across.ends = [low, high];
  return across;
}

export const path = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
