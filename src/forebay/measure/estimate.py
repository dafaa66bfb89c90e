"""The type of an estimate: a value, its interval, and its bias."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; ``n`` is the number of samples.

    ``low`` and ``high`` are None if the records give no interval; ``bias`` then gives the direction
    of the error and its reason.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    bias: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the form in a JSON document."""
        told = {"value": self.value, "low": self.low, "high": self.high, "n": self.n}
        return told | ({"bias": self.bias} if self.bias else {})


BATCHES = 20
STUDENT_95 = 2.0930240544083087
"""Two-sided 95 % point of Student's t with BATCHES - 1 degrees of freedom. scipy would compute it,
and loading that takes a quarter of a second for each file."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An estimate that the records do not allow, and why."""

    name: str
    why: str


def batch_mean(values: Floats) -> Estimate:
    """Return the mean of a series, with the t interval over the means of its twenty batches."""
    size = len(values) // BATCHES
    mean = float(values.mean())
    if size < 1:
        return Estimate(mean, None, None, len(values), "too short for an interval")
    means = values[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    half = STUDENT_95 * float(means.std(ddof=1)) / math.sqrt(BATCHES)
    return Estimate(mean, mean - half, mean + half, BATCHES)


def share(part: int, whole: int, bias: str = "") -> Estimate:
    """Return a share with its Wilson score interval (Wilson 1927), assuming independent events."""
    p, z2 = part / whole, NORMAL_95**2
    middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
    spread = math.sqrt(p * (1 - p) / whole + z2 / (4 * whole**2)) / (1 + z2 / whole)
    half = NORMAL_95 * spread
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return Estimate(p, min(low, p), max(high, p), whole, bias)  # rounding, where p is 0 or 1


def quantile(values: Floats, counts: Counts, q: float, independent: int) -> Estimate:
    """Return a quantile of a histogram, its interval between order statistics.

    Parameters
    ----------
    values, counts : shape (bins,); centres of the bins, ascending, and their counts.
    independent : effective number of independent samples.
    """
    cumulated = np.cumsum(counts) / counts.sum()
    half = NORMAL_95 * math.sqrt(q * (1 - q) / max(independent, 1))
    low, middle, high = (
        float(values[min(int(np.searchsorted(cumulated, at)), len(values) - 1)])
        for at in (max(q - half, 0.0), q, min(q + half, 1.0))
    )
    return Estimate(middle, low, high, independent)


def quantiles(values: Floats, counts: Counts, independent: int) -> dict[str, Any]:
    """Return mean, median, 95 % and 99 % of a histogram, in the form of an Outcome."""
    mean = float((values * counts).sum() / counts.sum())
    deviation = math.sqrt(float(((values - mean) ** 2 * counts).sum() / counts.sum()))
    half = NORMAL_95 * deviation / math.sqrt(max(independent, 1))
    told = {"mean": Estimate(mean, max(mean - half, 0.0), mean + half, independent).to_dict()}
    for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        told[name] = quantile(values, counts, q, independent).to_dict()
    return told


@dataclass
class Estimates:
    """The results so far; see `Measured` for the fields."""

    estimates: dict[str, Any] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: dict[str, Any] = field(default_factory=dict)

    def refuse(self, name: str, why: str) -> None:
        """Record that the records do not allow an estimate."""
        self.refused.append(Refused(name, why))
