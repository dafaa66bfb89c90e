"""Synchronization of flows, and the distribution of the sum of their windows.

Pure functions on arrays; docs/reference/readings.md contains the definitions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from forebay.outcome.reading import FloatArray, IntArray

ROBUST_MINIMUM = 0.05
"""The quantile that serves as a "robust minimum"."""


@dataclass(frozen=True, slots=True)
class NormalFit:
    """A sample compared with the normal distribution of the same mean and standard deviation.

    Attributes
    ----------
    mean, standard_deviation : of the sample, in its unit.
    kolmogorov_smirnov : largest distance between the two distribution functions, 0 to 1.
    skewness, excess_kurtosis : third and fourth standardized moments; 0 for a normal sample.
    """

    mean: float
    standard_deviation: float
    kolmogorov_smirnov: float
    skewness: float
    excess_kurtosis: float


@dataclass(frozen=True, slots=True, eq=False)
class CongestionEvents:
    """Rounds of loss.

    Attributes
    ----------
    opened_s : FloatArray, shape (events,)
        When each event's first drop was seen.
    reduced_fraction : FloatArray, shape (events,)
        Distinct flows that cut their windows for a drop of the event, over all flows.
    hit_fraction : FloatArray, shape (events,)
        Distinct flows that lost a packet in the event, over all flows.
    """

    opened_s: FloatArray
    reduced_fraction: FloatArray
    hit_fraction: FloatArray


def synchronization_index(window_sum: FloatArray, window_variance: FloatArray) -> float | None:
    """Variance of the sum of the windows over the sum of the windows' variances.

    It is 1 for independent windows, n for n synchronized windows, and less than 1 for negatively
    correlated ones. Equal variances give 1 + (n - 1) r, where r is the mean correlation of two
    windows. It is None if no window varies.

    Parameters
    ----------
    window_sum : shape (samples,)
    window_variance : shape (flows,), each over the same samples
    """
    apart = float(np.sum(window_variance))
    return float(np.var(window_sum)) / apart if apart > 0.0 else None


def fit_normal(sample: FloatArray) -> NormalFit | None:
    """Fit a normal distribution to ``sample`` (shape (samples,)); None if it is constant."""
    if sample.size < 2 or np.ptp(sample) == 0.0:
        return None
    mean, deviation = float(np.mean(sample)), float(np.std(sample))
    standardized = (sample - mean) / deviation
    return NormalFit(
        mean=mean,
        standard_deviation=deviation,
        kolmogorov_smirnov=_distance_to_normal(standardized),
        skewness=float(np.mean(standardized**3)),
        excess_kurtosis=float(np.mean(standardized**4)) - 3.0,
    )


def robust_minimum(sample: IntArray) -> float | None:
    """Return the 5 % quantile as a robust minimum; None for an empty sample."""
    if sample.size == 0:
        return None
    return float(np.quantile(sample, ROBUST_MINIMUM, method="inverted_cdf"))


def congestion_events(
    drops: tuple[FloatArray, IntArray],
    reductions: tuple[FloatArray, IntArray],
    *,
    flows: int,
    length_s: float,
    window_s: tuple[float, float],
) -> CongestionEvents:
    """Group drops into events, and find the flows that cut their windows for them.

    An event starts with a drop and includes every drop less than ``length_s`` after it. This is
    one round trip, before which senders do not detect the loss. The next drop starts the next
    event. (With hundreds of flows on a link, a rule based on pauses would give one endless event.)
    A cut belongs to the event of its flow's latest drop. Events that start within one length of
    the window's begin or two of its end are excluded, because part of them is outside.

    Parameters
    ----------
    drops, reductions : times in seconds, in order, and flow numbers
    flows : number of flows, at least one
    length_s : see above
    window_s : begin and end of the readings
    """
    opened, event = _events(drops[0], length_s)
    blamed = _blame(drops, reductions, event)
    whole = (opened >= window_s[0] + length_s) & (opened < window_s[1] - 2.0 * length_s)
    return CongestionEvents(
        opened_s=opened[whole],
        reduced_fraction=_distinct(blamed, reductions[1], opened.size)[whole] / flows,
        hit_fraction=_distinct(event, drops[1], opened.size)[whole] / flows,
    )


def _events(at_s: FloatArray, length_s: float) -> tuple[FloatArray, IntArray]:
    """Start times of events, and the event of each drop."""
    starts, here = [], 0
    while here < at_s.size:
        starts.append(here)
        after = int(np.searchsorted(at_s, at_s[here] + length_s * (1.0 - 1e-9), side="left"))
        here = max(after, here + 1)
    first = np.array(starts, dtype=np.int64)
    return at_s[first], np.searchsorted(first, np.arange(at_s.size), side="right") - 1


def _blame(
    drops: tuple[FloatArray, IntArray], reductions: tuple[FloatArray, IntArray], event: IntArray
) -> IntArray:
    """Event of the latest drop of each cut's flow at or before the cut; -1 if there is none."""
    order = np.lexsort((drops[0], drops[1]))
    at, flow, event = drops[0][order], drops[1][order], event[order]
    begin = np.searchsorted(flow, reductions[1], side="left")
    end = np.searchsorted(flow, reductions[1], side="right")
    blamed = np.full(reductions[0].size, -1, dtype=np.int64)
    for index, (time, low, high) in enumerate(zip(reductions[0], begin, end, strict=True)):
        latest = low + int(np.searchsorted(at[low:high], time, side="right")) - 1
        if latest >= low:
            blamed[index] = event[latest]
    return blamed


def _distinct(event: IntArray, flow: IntArray, events: int) -> FloatArray:
    """Count the distinct flows of each event."""
    known = event >= 0
    pairs = np.unique(np.stack((event[known], flow[known])), axis=1)
    return np.bincount(pairs[0], minlength=events).astype(np.float64)


def _distance_to_normal(standardized: FloatArray) -> float:
    values, counts = np.unique(standardized, return_counts=True)
    upper = np.cumsum(counts) / standardized.size
    lower = np.concatenate(([0.0], upper[:-1]))
    expected = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in values])
    return float(np.max(np.maximum(np.abs(upper - expected), np.abs(lower - expected))))
