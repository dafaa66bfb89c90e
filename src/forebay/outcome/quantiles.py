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
    Bounds,
    around,
    half_width,
    over_replications,
)

POSITIVE: Bounds = (0.0, math.inf)


def queue_quantiles(links: Sequence[LinkReading], bounds: Bounds) -> list[Metric | None]:
    """Quantiles of the packets that wait; with one replication, the interval is of its batches."""

    def read(weights: FloatArray, step: int) -> FloatArray:
        found = statistics.of_counts(weights, step, statistics.PROBABILITIES).T
        return np.minimum(found, bounds[1])  # a bin of several packets may exceed the bounds

    whole = [read(k.queue_s.sum(axis=0)[np.newaxis], k.queue_step) for k in links]
    pooled = np.concatenate(whole, axis=1)
    if len(links) > 1 or not pooled.size:
        return [over_replications(values.tolist(), bounds) for values in pooled]
    batches = read(links[0].queue_s, links[0].queue_step)
    return [
        around(float(value), half_width(values), 1, bounds)
        for (value,), values in zip(pooled, batches, strict=True)
    ]


def of_histograms(histograms: Sequence[Histogram | None]) -> Quantiles | None:
    """Quantiles of one histogram per replication; None if no replication has one."""
    present = [h for h in histograms if h is not None]
    mean = over_replications(_known(map(statistics.mean_of_histogram, present)), POSITIVE)
    if mean is None:
        return None
    p50, p95, p99 = up_to(present)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def up_to(histograms: Sequence[Histogram], longest_s: Sequence[float] = ()) -> list[Metric | None]:
    """Quantiles, none above the longest value if it is known, because a bin reaches beyond it."""
    read = [statistics.several_of_histogram(h, statistics.PROBABILITIES) for h in histograms]
    most = longest_s or [math.inf] * len(read)
    both = zip(read, most, strict=True)
    known = [np.minimum(values, end).tolist() for values, end in both if values is not None]
    return [
        over_replications([values[i] for values in known], POSITIVE)
        for i in range(len(statistics.PROBABILITIES))
    ]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
