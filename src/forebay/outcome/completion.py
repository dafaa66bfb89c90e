"""Completion times of transfers, some of which are unfinished at the end of the window.

An unfinished transfer is right-censored: its completion time is longer than its time so far. A
sample without these transfers would be biased towards short ones. The distribution is the
product-limit estimate (Kaplan and Meier, "Nonparametric estimation from incomplete observations",
JASA 53, 1958): S(t) is the product of (n_j - d_j) / n_j over the times t_j <= t at which transfers
ended. n_j transfers had lasted until t_j, and d_j of them ended then. A transfer that was cut off
at t_j still counts in n_j. The remainder of S at the longest time counts as ended there (Efron
1967), which gives a lower bound.

A quantile is known if S falls that far. The mean is known if S falls to 0, that is, if the
longest transfer ended. It is also known if every transfer ended that was observable for half of
the window or more; the transfers cut off had then just begun. Otherwise only the bound is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forebay.outcome import statistics
from forebay.outcome.document import SlowdownBin
from forebay.outcome.model import Metric, Quantiles
from forebay.outcome.reading import FloatArray, Slowdowns
from forebay.words import Fact

Transfers = tuple[FloatArray, FloatArray]
"""One replication: times of the finished transfers, and times so far of the unfinished ones."""

_WATCHED = 0.5
"""Share of the window: for a mean, all transfers observed for this time must have ended."""

_PARTS = dict(zip(("p50", "p95", "p99"), statistics.PROBABILITIES, strict=True))
_TIMES = 2000
_ROUNDING = 1e-12  # a product of n factors equals 1 - p only up to rounding
_POSITIVE = (0.0, float("inf"))


@dataclass(frozen=True, slots=True)
class Lasted:
    """The estimate from one sample; at least one transfer.

    Attributes
    ----------
    times_s, ended_share : shape (n,)
        In order, and the share of all transfers that has ended by then.
    known : share of the transfers whose completion time is known; 1 if the longest ended.
    """

    times_s: FloatArray
    ended_share: FloatArray
    known: float

    def quantile(self, probability: float) -> float:
        """Return the earliest time by which this share has ended, or a lower bound."""
        place = int(np.searchsorted(self.ended_share, probability - _ROUNDING))
        return float(self.times_s[min(place, self.times_s.size - 1)])

    def share_above(self, times_s: FloatArray) -> FloatArray:
        """Return the share that has not ended at each of some times; same shape."""
        place = np.searchsorted(self.times_s, times_s, side="right")
        return np.asarray(1.0 - np.append(0.0, self.ended_share)[place], dtype=np.float64)

    def mean(self) -> float:
        """Return the mean, or a lower bound."""
        return float(np.dot(np.diff(self.ended_share, prepend=0.0), self.times_s))

    def knows(self, probability: float) -> bool:
        """Whether this share of the transfers ended in the window."""
        return self.known >= probability - _ROUNDING


@dataclass(frozen=True, slots=True)
class Completion:
    """The transfers of one class in an Outcome; see `ClassOutcome`."""

    fct_s: Quantiles | None = None
    transfers: Metric | None = None
    unfinished: Metric | None = None
    fct_least_s: Quantiles | None = None
    fct_open: Fact | None = None


def lasted(transfers: Transfers) -> Lasted:
    """Return the product-limit estimate; at ties, finished transfers come first."""
    ended, open_ = transfers
    times = np.concatenate((ended, open_))
    cut_off = np.repeat((False, True), (ended.size, open_.size))
    order = np.lexsort((cut_off, times))
    left = np.arange(times.size, 0, -1, dtype=np.float64)
    survival = np.cumprod(np.where(cut_off[order], 1.0, 1.0 - 1.0 / left))
    share = np.asarray(1.0 - survival, dtype=np.float64)
    known = float(share[-1])
    share[-1] = 1.0
    return Lasted(times[order], share, known)


def completion(replications: Sequence[Transfers], window_s: float) -> Completion:
    """Summarize the transfers of all replications; the intervals are over replications.

    The value uses all transfers together, because a tail quantile may be known for all of them but
    not per replication. One replication gives no interval, because its transfers share a queue.
    """
    counts = [float(ended.size + open_.size) for ended, open_ in replications]
    transfers = statistics.over_replications(counts, _POSITIVE)
    present = [pair for pair, count in zip(replications, counts, strict=True) if count]
    if not present:
        nothing = Fact("fct-open.none") if counts else None
        return Completion(transfers=transfers, fct_open=nothing)
    shares = [open_.size / (ended.size + open_.size) for ended, open_ in present]
    estimate = _Estimate.of(present, window_s)
    return Completion(
        fct_s=estimate.quantiles(known=True),
        transfers=transfers,
        unfinished=statistics.over_replications(shares, (0.0, 1.0)),
        fct_least_s=estimate.quantiles(known=False),
        fct_open=estimate.why_open(int(sum(counts)), sum(o.size for _, o in present)),
    )


def of_requests(
    replications: Sequence[tuple[FloatArray | None, FloatArray | None]], window_s: float
) -> dict[str, Metric | Quantiles | None]:
    """Return the same of whole requests, as fields of a ClassOutcome; none of others."""
    known = [(a, b) for a, b in replications if a is not None and b is not None]
    if not known:
        return {}
    whole = completion(known, window_s)
    return {
        "requests": whole.transfers,
        "request_s": whole.fct_s,
        "request_least_s": whole.fct_least_s,
    }


@dataclass(frozen=True, slots=True)
class _Estimate:
    pooled: Lasted
    each: list[Lasted]
    only_fresh_are_open: bool

    @classmethod
    def of(cls, present: Sequence[Transfers], window_s: float) -> _Estimate:
        ended, open_ = (np.concatenate(parts) for parts in zip(*present, strict=True))
        fresh = bool((open_ < _WATCHED * window_s).all()) and ended.size > 0
        return cls(lasted((ended, open_)), [lasted(one) for one in present], fresh)

    def knows(self, part: str) -> bool:
        if part == "mean" and self.only_fresh_are_open:
            return True
        return self.pooled.knows(_PARTS.get(part, 1.0))

    def quantiles(self, *, known: bool) -> Quantiles | None:
        """Return the known parts, or the unknown ones; None if there are none."""
        parts = {
            part: self._metric(part) if self.knows(part) is known else None
            for part in ("mean", *_PARTS)
        }
        return Quantiles(**parts) if any(parts.values()) else None

    def _metric(self, part: str) -> Metric:
        probability, many = _PARTS.get(part), len(self.each)
        if probability is None:
            half = statistics.half_width(np.array([one.mean() for one in self.each]))
            return statistics.around(self.pooled.mean(), half, many, _POSITIVE)
        value, times_s = self.pooled.quantile(probability), self._times_s()
        above = np.array([one.share_above(times_s) for one in self.each])
        counts = np.array([one.times_s.size for one in self.each], dtype=np.float64)
        bins = statistics.bins_of_quantile(above, counts, probability)
        if bins is None:
            return Metric(value=value, low=None, high=None, n=many)
        low, high = (float(times_s[bin_]) for bin_ in bins)
        return Metric(value=value, low=min(low, value), high=max(high, value), n=many)

    def _times_s(self) -> FloatArray:
        """Return the times between which an end of an interval is looked for: all, or many."""
        times_s, last = self.pooled.times_s, self.pooled.times_s.size - 1
        places = np.concatenate(
            (np.linspace(0, last, _TIMES), last - np.geomspace(1, last + 1, _TIMES) + 1)
        )
        return np.asarray(times_s[np.unique(places.astype(np.int64))])

    def why_open(self, transfers: int, unfinished: int) -> Fact | None:
        parts = [part for part in ("mean", *_PARTS) if not self.knows(part)]
        if not parts:
            return None
        listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        return Fact("fct-open.some", unfinished=unfinished, transfers=transfers, parts=listed)


ENDS = (0.0, 1e4, 1e5, 1e6, 1e7, np.inf)
"""Ends of the bins, bytes."""
NAMES = ("up to 10 kB", "10 to 100 kB", "100 kB to 1 MB", "1 to 10 MB", "above 10 MB")


def by_size(replications: Sequence[Slowdowns]) -> dict[str, SlowdownBin]:
    """Return the bins that have transfers; unfinished ones are censored, as in `completion`."""
    bins = {}
    for name, (low, high) in zip(NAMES, pairwise(ENDS), strict=True):
        pairs = []
        for one in replications:
            mine = (one.size_bytes > low) & (one.size_bytes <= high)
            open_ = one.unfinished.astype(bool)
            pairs.append((one.slowdown[mine & ~open_], one.slowdown[mine & open_]))
        if not any(ended.size + left.size for ended, left in pairs):
            continue
        summary = completion(pairs, 0.0)
        bins[name] = SlowdownBin(
            above_bytes=low,
            up_to_bytes=None if high == np.inf else high,
            transfers=summary.transfers,
            unfinished=summary.unfinished,
            slowdown=summary.fct_s,
            least=summary.fct_least_s,
        )
    return bins
