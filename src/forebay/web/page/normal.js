// A histogram, and the normal density with which it is compared.

// {from, width, share}: equal bins over all values; each with the share of the first `until` values.
export function histogram(values, bins, until = values.length) {
  const low = Math.min(...values), high = Math.max(...values), width = (high - low) / bins || 1;
  const counts = new Array(bins).fill(0);
  for (const value of values.slice(0, until)) counts[Math.min(bins - 1, Math.floor((value - low) / width))] += 1;
  return { from: low, width, share: counts.map((each) => each / Math.max(1, until)) };
}

export function density(value, { mean, deviation }) {
  return Math.exp(-0.5 * ((value - mean) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI));
}
