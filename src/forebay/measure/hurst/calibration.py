"""Bias and spread of an estimator of H, from a table of what it says of noise whose H is known.

The table, `calibration.csv` beside this file, has for each method, length of the series and H the
quantiles of the estimator over some hundred draws of fractional Gaussian noise. `calibrate.py`
makes it.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np

from forebay.measure.estimate import Estimate, Floats

TABLE = Path(__file__).with_name("calibration.csv")
QUANTILES = {"low": 0.025, "middle": 0.5, "high": 0.975}
_FLATTEST = 0.2
"""An estimator that says less than so much of a change of H says nothing."""


def calibrated(method: str, raw: float, length: int) -> Estimate:
    """Return the H of fractional Gaussian noise of which the estimator says what it says here.

    The value is the H whose median is ``raw``. The interval holds each H of which ``raw`` lies
    between the 2.5 % and the 97.5 % quantile (Neyman 1937), so that it covers the truth in 95 % of
    all series of such noise, whatever the estimator's bias and spread are. Beyond the table's ends
    its last lines go on.

    Parameters
    ----------
    method
        As in the table.
    raw
        What the estimator says of the series.
    length
        Of the series, up to the table's longest.
    """
    hurst, curves = _curves(method, length)
    low, value, high = (_inverse(hurst, curves[name], raw) for name in ("high", "middle", "low"))
    return Estimate(value, low, high, length)


def shortened(series: Floats, longest: int) -> Floats:
    """Return sums of neighbours of a series longer than the table goes: their H is the same."""
    while len(series) > longest:
        series = series[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return series


def longest() -> int:
    """Return the longest series that the table has."""
    return max(int(row["length"]) for row in _rows())


def _curves(method: str, length: int) -> tuple[Floats, dict[str, Floats]]:
    """Return the table's H, and the quantiles of the estimator there for series of a length.

    Between two lengths of the table they are interpolated over the logarithm.
    """
    table = _table(method)
    lengths = np.array(sorted(table))
    right = min(max(int(np.searchsorted(lengths, length)), 1), len(lengths) - 1)
    left = right - 1
    share = np.log(length / lengths[left]) / np.log(lengths[right] / lengths[left])
    hurst = table[lengths[0]]["hurst"]
    ends = [table[lengths[at]] for at in (left, right)]
    return hurst, {n: (1 - share) * ends[0][n] + share * ends[1][n] for n in QUANTILES}


@cache
def _table(method: str) -> dict[int, dict[str, Floats]]:
    lengths = {int(row["length"]) for row in _rows() if row["method"] == method}
    return {length: _columns(method, length) for length in lengths}


def _columns(method: str, length: int) -> dict[str, Floats]:
    kept = [r for r in _rows() if r["method"] == method and int(r["length"]) == length]
    return {name: np.array([float(row[name]) for row in kept]) for name in ("hurst", *QUANTILES)}


@cache
def _rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _inverse(hurst: Floats, curve: Floats, raw: float) -> float:
    """Return the H at which a rising curve is ``raw``; its chance falls are levelled."""
    rising = np.maximum.accumulate(curve)
    at = min(max(int(np.searchsorted(rising, raw)), 1), len(hurst) - 1)
    slope = max((rising[at] - rising[at - 1]) / (hurst[at] - hurst[at - 1]), _FLATTEST)
    end = at if raw > rising[-1] else at - 1
    return float(hurst[end] + (raw - rising[end]) / slope)
