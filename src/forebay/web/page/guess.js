// What is known before the search ends: a first size from laws, and one from a curve.

const LEAST = new Set(["utilization"]);

const met = (goal, target, value) => (LEAST.has(goal) ? value >= target : value <= target);

// The target of a goal as a number, in the unit of the curves; null for a table.
export function target(value, duration) {
  if (typeof value === "number") return value;
  return typeof value === "string" ? duration(value) : null;
}

// The lower median of the laws whose assumptions hold; null without one.
export function byLaws(laws) {
  const known = laws.filter((law) => law.holds && law.packets > 0).map((law) => law.packets).sort((a, b) => a - b);
  return known.length ? known[Math.floor((known.length - 1) / 2)] : null;
}

// The smallest buffer at which the curve meets all goals, between two points in logarithms; null if
// no point meets them. points are sorted by packets; goals are numbers by name.
export function byCurve(points, goals) {
  const names = Object.keys(goals).filter((name) => points.some((point) => point[name]));
  if (!names.length) return null;
  const meets = (point) => names.every((name) => point[name] && met(name, goals[name], point[name].value));
  const first = points.findIndex(meets);
  if (first < 0) return null;
  if (first === 0) return points[0].packets;
  return Math.ceil(Math.max(...names.map((name) => crossing(points[first - 1], points[first], name, goals[name]))));
}

function crossing(below, above, name, goal) {
  const from = below[name]?.value, to = above[name].value;
  if (from === undefined || met(name, goal, from)) return below.packets;
  const part = to === from ? 1 : (goal - from) / (to - from);
  return below.packets * (above.packets / below.packets) ** Math.min(1, Math.max(0, part));
}
