"""Runs of paper D's section VIII, which Figures 9 to 12 share: the mix of 198 flows on an OC-12."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import forebay
from forebay.outcome import Metric
from forebay.report.claims import shares

SCENARIO = Path(__file__).resolve().parent / "mix.toml"
RTTS_MS = (28, 67, 90)
FLOWS = {"reno": 42, "bic": 51, "cubic_beta_0_8": 30, "cubic_beta_0_7": 41, "ctcp": 34}
TAU = RHO = 0.99
PHI = 0.01

Progress = Callable[[float], None] | None


@dataclass(frozen=True, slots=True)
class Point:
    """What one RTT gave.

    Attributes
    ----------
    rtt_ms, bdp, buffer : milliseconds; packets.
    utilization, loss : in percent, with intervals.
    window : mean of W, the sum of what all flows have in flight, packets.
    """

    rtt_ms: int
    bdp: float
    buffer: int
    utilization: Metric
    loss: Metric
    window: float


def points(*, drops: bool, seeds: int, jobs: int, progress: Progress, quick: bool) -> list[Point]:
    """Run the three RTTs with the buffers of eq. 7, or with ``drops`` those of inequality 14."""
    return [
        _point(rtt_ms, drops, seeds, jobs, report, quick)
        for rtt_ms, report in zip(RTTS_MS, shares(progress, len(RTTS_MS)), strict=True)
    ]


def spread() -> float:
    """a / sqrt(n) of the mix as the paper prints it: deviation over mean of W (eq. 6)."""
    a = forebay.laws.heterogeneous.mixed(FLOWS, as_printed=True)
    return float(a) / sum(FLOWS.values()) ** 0.5


def least_mean(bdp: float) -> float:
    """Mean of W that inequality 1 asks for, with the deviation of eq. 6: eq. 8; packets."""
    h = forebay.laws.heterogeneous
    a = h.mixed(FLOWS, as_printed=True)
    return float(h.mean_of_mix(bdp, a, sum(FLOWS.values()), TAU, as_printed=True))


def least_buffer(mean: float, bdp: float) -> float:
    """Buffer that inequality 10 asks for at a mean of W, packets; below zero it asks for none."""
    z = float(forebay.laws.heterogeneous.z_score(RHO, as_printed=True))
    return (z * spread() * mean + mean) * (1 - PHI) - bdp


def _buffer(bdp: float, drops: bool) -> int:
    h = forebay.laws.heterogeneous
    a, n = h.mixed(FLOWS, as_printed=True), sum(FLOWS.values())
    if drops:
        return round(float(h.for_utilization_and_drops(bdp, a, n, TAU, PHI, RHO, as_printed=True)))
    return round(float(h.for_utilization(bdp, a, n, TAU, as_printed=True)))


_kept: dict[tuple[int, bool, int, bool], Point] = {}


def _point(
    rtt_ms: int, drops: bool, seeds: int, jobs: int, progress: Progress, quick: bool
) -> Point:
    """Run one RTT, or take it from memory: two figures are made from the same runs."""
    key = (rtt_ms, drops, seeds, quick)
    if key not in _kept:
        sets = [f"traffic.{place}.rtt={rtt_ms} ms" for place in range(len(FLOWS))]
        if quick:
            sets.append("measure.duration=10 s")
        bdp = _bdp(tuple(sets))
        buffer = _buffer(bdp, drops)
        scenario = forebay.load(SCENARIO, [*sets, f"queue.size={buffer} packets"])
        outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
        _kept[key] = _read(rtt_ms, outcome)
    return _kept[key]


@cache
def _bdp(sets: tuple[str, ...]) -> float:
    return forebay.load(SCENARIO, sets).bdp_packets


def _read(rtt_ms: int, outcome: forebay.Outcome) -> Point:
    link = outcome.links["bottleneck"]
    assert link.utilization is not None and link.loss_rate is not None
    return Point(
        rtt_ms=rtt_ms,
        bdp=link.bdp_packets,
        buffer=link.buffer_packets,
        utilization=_percent(link.utilization),
        loss=_percent(link.loss_rate),
        window=_in_flight(outcome),
    )


def _in_flight(outcome: forebay.Outcome) -> float:
    """Mean of W by Little's law: a class's rate times its mean RTT, summed; packets of 1500 B."""
    total = 0.0
    for each in outcome.classes:
        assert each.throughput_bps is not None
        assert each.rtt_s is not None and each.rtt_s.mean is not None
        total += each.throughput_bps.value * each.rtt_s.mean.value / (8 * 1500)
    return total


def _percent(metric: Metric) -> Metric:
    low, high = (None if end is None else 100.0 * end for end in (metric.low, metric.high))
    return metric.model_copy(update={"value": 100.0 * metric.value, "low": low, "high": high})
