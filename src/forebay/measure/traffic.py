"""What crosses a link: its load over time, sizes of packets, kinds, burstiness, and flows.

Theagarajan et al., section II: beta(s) is the coefficient of variation of the traffic volume over
intervals of length s; on log-log axes its slope is -(1 - H).

The number of flows is told in each meaning of the word, with their lengths. ``long_flows`` is the n
of the laws. Appenzeller et al. 2004, section 5.1.1, footnote 9: the number "was found by measuring
the number of flows in congestion avoidance mode at each instant and visually selecting a robust
minimum". Here the minimum is the 5 % quantile over the time between the first and the last instant
at which the number reaches its median. The time before and after has flows that begin or end with
the capture.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forebay.measure.estimate import NORMAL_95, Estimate, Floats, Measured, Refused, batch_mean
from forebay.measure.hurst import SHORTEST, hurst
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay._core import CaptureReadings

_SCALES_S = (0.001, 0.01, 0.1, 1.0, 10.0)
_FEWEST = 20
_DRAWN = 500


def describe_load(read: CaptureReadings, rate_bps: float, found: Measured) -> None:
    """Add ``load``, ``load_over_time``, ``packet_bytes`` and ``unresponsive_share``."""
    series = whole(read)
    if len(series) < 2:
        found.refuse("load", "load.short")
        return
    share = series * 8 / (read["load_width_s"] * rate_bps)
    load = batch_mean(share)
    found.estimates["load"] = replace(load, low=None if load.low is None else max(load.low, 0.0))
    if (load.value if load.low is None else load.low) > 1:  # the whole interval is above the rate
        found.note("load.above-rate", load=load.value)
    found.estimates["load_over_time"] = _over_time(share, read["load_width_s"], found)
    _sizes(read, found)
    _kinds(read, found)


def whole(read: CaptureReadings) -> Floats:
    """Return the bytes of each complete interval; shape (n,), intervals of ``load_width_s``."""
    intervals = int(read["duration_s"] / read["load_width_s"])
    series = np.zeros(intervals)
    kept = read["load_bytes"][:intervals]
    series[: len(kept)] = kept
    return series


def _over_time(share: Floats, width_s: float, found: Measured) -> dict[str, dict[str, Estimate]]:
    told = {}
    for scale_s in _SCALES_S:
        size = round(scale_s / width_s)
        if size < 1 or len(share) // size < _FEWEST:
            continue
        blocks = share[: len(share) // size * size].reshape(-1, size).mean(axis=1)
        told[f"{size * width_s:.3g} s"] = {
            "deviation": Estimate(float(blocks.std(ddof=1)), None, None, len(blocks)),
            "p95": Estimate(float(np.quantile(blocks, 0.95)), None, None, len(blocks)),
            "largest": Estimate(float(blocks.max()), None, None, len(blocks)),
        }
    step = max(len(share) // _DRAWN, 1)
    drawn = share[: len(share) // step * step].reshape(-1, step).mean(axis=1)
    found.curves["load"] = {"step_s": step * width_s, "share": drawn.tolist()}
    return told


def _sizes(read: CaptureReadings, found: Measured) -> None:
    sizes, counts = read["packet_bytes"], read["packet_counts"]
    if not len(sizes):
        return
    mean = float((sizes * counts).sum() / counts.sum())
    found.estimates["packet_bytes"] = {
        "mean": Estimate(mean, None, None, int(counts.sum()), str(Fact("bias.all-packets"))),
        "full": Estimate(float(full_packet(read)), None, None, int(counts.sum())),
    }
    cumulated = np.cumsum(counts) / counts.sum()
    found.curves["packet_bytes"] = {"bytes": sizes.tolist(), "share": cumulated.tolist()}


def full_packet(read: CaptureReadings) -> int:
    """Return the packet size in bytes with most of the bytes: that of full packets."""
    sizes, counts = read["packet_bytes"], read["packet_counts"]
    return int(sizes[np.argmax(sizes * counts)]) if len(sizes) else 1500


def _kinds(read: CaptureReadings, found: Measured) -> None:
    flows = read["flows"]
    quic, others = flows["quic_bytes"], flows["udp_bytes"] + flows["other_bytes"]
    total, packets = flows["tcp_bytes"] + quic + others, read["packets"]
    if not total:
        return
    found.add("unresponsive_share", others / total, packets, "bias.unresponsive")
    if quic:
        found.add("quic_share", quic / total, packets, "bias.quic")


_FEWEST_INTERVALS = 32
_FEWEST_POINTS = 3
_LONGEST_SERIES = 1 << 15
_FULL = 0.95
_APART = 0.2


def describe_burstiness(read: CaptureReadings, packet_s: float, found: Measured) -> None:
    """Add ``burstiness_knee_s``, ``hurst_by_slope`` and ``hurst``; the curve is beta(s).

    Scales below a full packet's time on the link, ``packet_s``, show the packets themselves: it
    would be taken for the knee.
    """
    seconds, beta = variation(read["scales"].reshape(-1, 4))
    if len(beta) >= 2 * _FEWEST_POINTS:
        found.curves["burstiness"] = {"seconds": seconds.tolist(), "beta": beta.tolist()}
    seconds, beta = seconds[seconds >= packet_s], beta[seconds >= packet_s]
    if len(beta) >= 2 * _FEWEST_POINTS:
        at, slopes = knee(seconds, beta)
        bends = str(Fact("bias.knee"))
        found.estimates["burstiness_knee_s"] = Estimate(at, at / 2, at * 2, len(beta), bends)
    else:
        found.refuse("burstiness_knee_s", "hurst.short")
    load = found.estimates.get("load")
    if load is not None and load.value > _FULL:
        for name in ("hurst_by_slope", "hurst"):
            found.refuse(name, "hurst.smoothed", load=load.value)
        return
    if len(beta) >= 2 * _FEWEST_POINTS:
        slope_as_hurst(1 + slopes[1], len(beta), found)
    coarse, width_s = coarsened(whole(read), read["load_width_s"])
    methods = hurst(coarse)
    if isinstance(methods, dict):
        methods = possible_methods(methods, found)
    if isinstance(methods, Refused):
        found.refused.append(methods)
        return
    found.estimates["hurst"] = methods
    values = [one.value for one in methods.values()]
    if max(values) - min(values) > _APART:
        found.note("hurst.disagree")
    found.note("hurst.intervals", width=width_s * 1e3)


def slope_as_hurst(value: float, points: int, found: Measured) -> None:
    """Add ``hurst_by_slope``, or refuse it outside the range of H."""
    if not 0.0 < value < 1.0:
        found.refuse("hurst_by_slope", "hurst.impossible-slope", value=value)
        return
    found.add("hurst_by_slope", value, points, "bias.slope")


def possible_methods(told: dict[str, Estimate], found: Measured) -> dict[str, Estimate] | Refused:
    """Return the methods whose H lies between 0 and 1; refuse the others."""
    outside = {name: one.value for name, one in told.items() if not 0.0 < one.value < 1.0}
    inside = {name: one for name, one in told.items() if name not in outside}
    values = ", ".join(f"{name} gives {value:.2f}" for name, value in outside.items())
    if outside and inside:
        found.refuse("hurst", "hurst.impossible", values=values)
    return inside or Refused("hurst", str(Fact("hurst.impossible", values=values)))


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


_ROBUST = 0.05
_BATCHES = 10
_FEWEST_TAIL = 20


def describe_flows(read: CaptureReadings, found: Measured) -> None:
    """Add ``tuples``, ``concurrent_flows``, ``long_flows``, ``flow_bytes`` and the tail."""
    flows = read["flows"]
    found.add("tuples", flows["tuples"], flows["tuples"], "bias.tuples")
    if flows["flows"] == 0:
        found.refuse("long_flows", "flows.no-data")
        return
    concurrent = float(over_time(flows["concurrent"]).mean())
    found.add("concurrent_flows", concurrent, flows["flows"], "bias.concurrent")
    _avoiding(read, found)
    _lengths(read, found)


def over_time(changes: tuple[float, Floats]) -> Floats:
    """Return a number of flows at each instant from its changes; shape (instants,)."""
    return np.cumsum(changes[1]) if len(changes[1]) else np.zeros(1)


def robust_minimum(number: Floats) -> Estimate:
    """Return the 5 % quantile of a number between its first and last instant at the median.

    The interval is over the same quantile in tenths of that part.
    """
    reached = np.flatnonzero(number >= np.median(number))
    stretch = number[reached[0] : reached[-1] + 1]
    value = float(np.quantile(stretch, _ROBUST))
    tenths = [np.quantile(part, _ROBUST) for part in np.array_split(stretch, _BATCHES) if len(part)]
    half = NORMAL_95 * float(np.std(tenths, ddof=1)) if len(tenths) > 1 else 0.0
    return Estimate(value, max(value - half, 0.0), value + half, len(stretch))


def _avoiding(read: CaptureReadings, found: Measured) -> None:
    flows = read["flows"]
    avoiding, lossy = over_time(flows["avoiding"]), over_time(flows["lossy"])
    width_s = flows["avoiding"][0]
    if not flows["tcp_bytes"]:
        found.refuse("long_flows", "flows.no-tcp")
        return
    if avoiding.max() < 1:
        found.refuse("long_flows", "flows.slow-start")
        return
    either, certain = robust_minimum(avoiding), robust_minimum(lossy) if lossy.max() else None
    brief = _at_instants_of(avoiding, width_s, flows["brief"])
    lasting = robust_minimum(avoiding - brief) if brief.max() else either
    low = min(end.low or 0.0 if end else 0.0 for end in (certain, either, lasting))
    short = either.value - lasting.value
    bias = Fact("bias.n-of-short" if short >= 1 else "bias.n", n=Fact("bias.n"), short=short)
    high = (either.high or either.value) * (1 + flows["quic_bytes"] / flows["tcp_bytes"])
    found.estimates["long_flows"] = Estimate(either.value, low, high, flows["long"], str(bias))
    if flows["quic_bytes"]:
        found.note("flows.quic")
    step = max(len(avoiding) // _DRAWN, 1)
    drawn = {name: over_time(flows[name])[::step].tolist()
             for name in ("concurrent", "avoiding", "lossy")}  # fmt: skip
    found.curves["flows"] = {"step_s": step * width_s} | drawn


def _at_instants_of(number: Floats, width_s: float, changes: tuple[float, Floats]) -> Floats:
    """Return another number of flows at the same instants; it may have fewer, or finer ones."""
    own = over_time(changes)
    places = ((np.arange(len(number)) + 0.5) * width_s / changes[0]).astype(int)
    return np.where(places < len(own), own[np.minimum(places, len(own) - 1)], 0.0)


def _lengths(read: CaptureReadings, found: Measured) -> None:
    values, counts = read["flows"]["lengths"]
    mean = float((values * counts).sum() / counts.sum())
    censored = read["flows"]["censored"] / read["flows"]["flows"]
    cut = str(Fact("bias.censored", share=censored))
    found.estimates["flow_bytes"] = {"mean": Estimate(mean, None, None, int(counts.sum()), cut)}
    cumulated = 1 - np.cumsum(counts) / counts.sum()
    found.curves["flow_bytes"] = {"bytes": values.tolist(), "longer": cumulated.tolist()}
    longest = np.asarray(read["flows"]["longest"], dtype=np.float64)
    if len(longest) < 10 * _FEWEST_TAIL:
        found.refuse("flow_tail", "tail.few-flows", flows=len(longest), least=10 * _FEWEST_TAIL)
    elif censored > 0.5:
        found.refuse("flow_tail", "tail.few-complete")
    elif longest[0] == longest[_last_of_tail(longest, read["flows"]["flows"])]:
        found.refuse("flow_tail", "tail.one-length")
    else:
        found.estimates["flow_tail"] = _tail(longest, read["flows"]["flows"], found)


def hill(longest: Floats, k: int) -> Estimate:
    """Return the tail's exponent from the k longest flows in descending order (Hill 1975)."""
    value = k / float(np.log(longest[:k] / longest[k]).sum())
    half = NORMAL_95 * value / math.sqrt(k)
    return Estimate(value, value - half, value + half, k)


def _last_of_tail(longest: Floats, flows: int) -> int:
    return min(len(longest) - 1, flows // 2)


def _tail(longest: Floats, flows: int, found: Measured) -> Estimate:
    ks = np.unique(np.geomspace(_FEWEST_TAIL, _last_of_tail(longest, flows), 60).astype(int))
    ks = ks[longest[:1] > longest[ks]]
    plot = [hill(longest, int(k)).value for k in ks]
    found.curves["hill"] = {"flows": ks.tolist(), "exponent": plot}
    chosen = int(ks[np.searchsorted(ks, min(max(flows // 20, _FEWEST_TAIL), ks[-1]))])
    return replace(hill(longest, chosen), bias=str(Fact("bias.tail")))
