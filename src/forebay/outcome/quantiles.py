"""Quantiles of queues and waits over replications."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from forebay.outcome import statistics
from forebay.outcome.model import (
    Metric,
    Quantiles,
)
from forebay.outcome.reading import FloatArray, Histogram, LinkReading
from forebay.outcome.statistics import (
    PROBABILITIES,
    Bounds,
    around,
    half_width,
    over_replications,
)

POSITIVE: Bounds = (0.0, math.inf)


def queue_quantiles(links: Sequence[LinkReading], bounds: Bounds) -> list[Metric | None]:
    """Quantiles of the packets that wait in all replications together.

    With one replication, the interval is of its batches.
    """
    step = links[0].queue_step
    whole = [k.queue_s.sum(axis=0) for k in links]
    weights = np.zeros((len(whole), max(row.size for row in whole)))
    for row, each in zip(weights, whole, strict=True):
        row[: each.size] = each
    weights = weights[weights.any(axis=1)]
    if not weights.size:
        return [None] * len(PROBABILITIES)

    def read(rows: FloatArray) -> FloatArray:
        found = statistics.of_counts(rows, step, PROBABILITIES).T
        return np.minimum(found, bounds[1])  # a bin of several packets may exceed the bounds

    values = read(weights.sum(axis=0)[np.newaxis])[:, 0].tolist()
    if len(links) == 1:
        batches = read(links[0].queue_s)
        return [around(v, half_width(b), 1, bounds) for v, b in zip(values, batches, strict=True)]
    above, totals = statistics.shares_above(weights), weights.sum(axis=1)
    found: list[Metric | None] = []
    for value, probability in zip(values, PROBABILITIES, strict=True):
        bins = statistics.bins_of_quantile(above, totals, probability)
        ends = None if bins is None else (bins[0] * step, min(bins[1] * step + step - 1, bounds[1]))
        found.append(_within(value, ends, len(weights), bounds))
    return found


def of_histograms(histograms: Sequence[Histogram | None]) -> Quantiles | None:
    """Quantiles of one histogram per replication; None if no replication has one."""
    present = [h for h in histograms if h is not None]
    mean = over_replications(_known(map(statistics.mean_of_histogram, present)), POSITIVE)
    if mean is None:
        return None
    p50, p95, p99 = up_to(present)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def up_to(
    histograms: Sequence[Histogram],
    longest_s: Sequence[float] = (),
    probabilities: Sequence[float] = PROBABILITIES,
) -> list[Metric | None]:
    """Quantiles of all replications together, none above the longest value if it is known.

    An interval ends where a bin does, which may be above that: further in nothing was read.

    A replication whose histogram is empty tells nothing of them.
    """
    longest = longest_s or [math.inf] * len(histograms)
    both = zip(histograms, longest, strict=True)
    present = [(each, end) for each, end in both if each.counts.any()]
    if not present:
        return [None] * len(probabilities)
    most = (0.0, max(end for _, end in present))
    many = len(present)
    if many == 1:
        values = statistics.several_of_histogram(present[0][0], probabilities)
        assert values is not None
        return [_within(value, None, 1, most) for value in values.tolist()]
    edges, weights = statistics.pooled([each for each, _ in present])
    values = statistics.several_of_histogram(Histogram(edges, weights.sum(axis=0)), probabilities)
    assert values is not None
    above, totals = statistics.shares_above(weights), weights.sum(axis=1)
    found: list[Metric | None] = []
    for value, probability in zip(values.tolist(), probabilities, strict=True):
        bins = statistics.bins_of_quantile(above, totals, probability)
        ends = None if bins is None else (float(edges[bins[0]]), float(edges[bins[1] + 1]))
        found.append(_within(value, ends, many, most))
    return found


def _within(value: float, ends: tuple[float, float] | None, n: int, bounds: Bounds) -> Metric:
    """Return a quantile with an interval whose ends are those of bins, which reach beyond it."""
    value = min(value, bounds[1])
    if ends is None:
        return Metric(value=value, low=None, high=None, n=n)
    low, high = ends
    return Metric(value=value, low=min(low, value), high=max(high, value), n=n)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
