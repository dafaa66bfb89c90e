"""Burstiness by scale: the coefficient of variation of the volume, its knee, and H.

Theagarajan et al., section II: beta(s) is the coefficient of variation of the traffic volume over
intervals of length s; on log-log axes its slope is -(1 - H).
"""

from __future__ import annotations

import numpy as np

from forebay.measure.estimate import Estimate, Estimates, Floats, Refused
from forebay.measure.hurst import SHORTEST, hurst

_FEWEST_INTERVALS = 32


_FEWEST_POINTS = 3


_LONGEST_SERIES = 1 << 15


_FULL = 0.95


_APART = 0.2


def describe(
    scales: Floats, series: Floats, width_s: float, packet_s: float, found: Estimates
) -> None:
    """Add ``burstiness_knee_s``, ``hurst_by_slope`` and ``hurst``; the curve is beta(s).

    Parameters
    ----------
    scales : shape (scales, 4)
        As in `CaptureReadings`.
    series : shape (n,)
        Bytes in intervals of ``width_s``.
    packet_s
        Time of a full packet on the link. Shorter scales show the packets themselves, whose time
        would be taken for the knee.
    """
    seconds, beta = variation(scales.reshape(-1, 4))
    if len(beta) >= 2 * _FEWEST_POINTS:
        found.curves["burstiness"] = {"seconds": seconds.tolist(), "beta": beta.tolist()}
    seconds, beta = seconds[seconds >= packet_s], beta[seconds >= packet_s]
    if len(beta) >= 2 * _FEWEST_POINTS:
        at, slopes = knee(seconds, beta)
        bends = "where two straight lines fit beta(s) best; the scales are a factor of two apart"
        found.estimates["burstiness_knee_s"] = Estimate(at, at / 2, at * 2, len(beta), bends)
    else:
        found.refuse("burstiness_knee_s", "the capture is too short for a curve over scales")
    load = found.estimates.get("load")
    if load is not None and load.value > _FULL:
        for name in ("hurst_by_slope", "hurst"):
            found.refuse(name, f"the link is {load.value:.0%} full: its queue smooths the load")
        return
    if len(beta) >= 2 * _FEWEST_POINTS:
        _by_slope(1 + slopes[1], len(beta), found)
    coarse, width_s = coarsened(series, width_s)
    told = hurst(coarse)
    if isinstance(told, dict):
        told = _possible(told, found)
    if isinstance(told, dict):
        found.estimates["hurst"] = told
        values = [one.value for one in told.values()]
        if max(values) - min(values) > _APART:
            found.notes.append("the four methods disagree on H: the load is not stationary noise")
        found.notes.append(
            f"H is that of the bytes in intervals of {width_s * 1e3:.3g} ms and longer"
        )
    else:
        found.refused.append(told)


def _by_slope(value: float, points: int, found: Estimates) -> None:
    if not 0.0 < value < 1.0:
        why = f"1 plus the slope of beta(s) is {value:.2f}, and H lies between 0 and 1"
        found.refuse("hurst_by_slope", f"{why}: the load is no self-similar noise")
        return
    above = "1 plus the slope of beta(s) above the knee, as in paper B"
    found.estimates["hurst_by_slope"] = Estimate(value, None, None, points, above)


def _possible(told: dict[str, Estimate], found: Estimates) -> dict[str, Estimate] | Refused:
    """Return the methods whose H lies between 0 and 1; refuse the others."""
    outside = {name: one.value for name, one in told.items() if not 0.0 < one.value < 1.0}
    inside = {name: one for name, one in told.items() if name not in outside}
    values = ", ".join(f"{name} gives {value:.2f}" for name, value in outside.items())
    why = f"{values}, and H lies between 0 and 1: the load is no stationary noise"
    if outside and inside:
        found.refuse("hurst", why)
    return inside or Refused("hurst", why)


def coarsened(series: Floats, width_s: float) -> tuple[Floats, float]:
    """Sum a series to at most 2^15 intervals, most of them not empty; return it and their width."""
    while len(series) > SHORTEST and (
        len(series) > _LONGEST_SERIES or np.count_nonzero(series) < len(series) / 2
    ):
        series = series[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1)
        width_s *= 2
    return series, width_s


def variation(scales: Floats) -> tuple[Floats, Floats]:
    """Return the scales with enough intervals, in seconds, and beta at each."""
    kept = scales[(scales[:, 1] >= _FEWEST_INTERVALS) & (scales[:, 2] > 0)]
    mean = kept[:, 2] / kept[:, 1]
    variance = np.maximum(kept[:, 3] / kept[:, 1] - mean**2, 0.0)
    some = variance > 0
    return kept[some, 0], np.sqrt(variance[some]) / mean[some]


def knee(seconds: Floats, beta: Floats) -> tuple[float, tuple[float, float]]:
    """Fit log beta by two joined line segments; return where they join, and both slopes."""
    x, y = np.log2(seconds), np.log2(beta)
    fits = []
    for at in range(_FEWEST_POINTS - 1, len(x) - _FEWEST_POINTS + 1):
        design = np.stack([np.ones_like(x), x, np.maximum(x - x[at], 0)], axis=1)
        solution, *_ = np.linalg.lstsq(design, y, rcond=None)
        error = float(((design @ solution - y) ** 2).sum())
        fits.append((error, float(seconds[at]), float(solution[1]), float(solution[2])))
    _, where, below, change = min(fits)
    return where, (below, below + change)
