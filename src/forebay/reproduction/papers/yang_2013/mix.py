"""Runs of section VIII for Figures 9 to 12: the mix of 198 flows on an OC-12."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, percent
from forebay.reproduction import each_with

SCENARIO = Path(__file__).resolve().parent / "mix.toml"
RTTS_MS = (28, 67, 90)
FLOWS = {"reno": 42, "bic": 51, "cubic_beta_0_8": 30, "cubic_beta_0_7": 41, "ctcp": 34}
TAU = RHO = 0.99
PHI = 0.01
NOTE = (
    "Buffers as the paper set them: its z of 2.05 and its Table III (yang-2013/text has the right "
    "ones), rounded to a packet; 1500 B packets, constant RTTs."
)

Progress = Callable[[float], None] | None


@dataclass(frozen=True, slots=True)
class Point:
    """Results for one RTT.

    Attributes
    ----------
    rtt_ms, bdp, buffer : milliseconds; packets.
    utilization, loss : in percent, with intervals.
    window : mean of W, the packets in the network.
    """

    rtt_ms: int
    bdp: float
    buffer: int
    utilization: Any
    loss: Any
    window: float


# Parameters that the paper leaves open; README.md has the source of each variant.
CHOSEN = "constant RTTs"
READINGS: dict[str, Callable[[int], list[str]]] = {
    "RTTs ± 2 %": lambda rtt_ms: _each(
        f"rtt={{uniform=['{0.98 * rtt_ms} ms', '{1.02 * rtt_ms} ms']}}"
    ),
    "RTTs ± 20 %": lambda rtt_ms: _each(
        f"rtt={{uniform=['{0.8 * rtt_ms} ms', '{1.2 * rtt_ms} ms']}}"
    ),
    "jitter up to 1 ms": lambda rtt_ms: _each("jitter=1 ms"),
    "delivered on a tick of 1 ms": lambda rtt_ms: _each("timer_tick=1 ms"),
    "tick of 1 ms, RTTs ± 2 %": lambda rtt_ms: [
        *_each("timer_tick=1 ms"),
        *_each(f"rtt={{uniform=['{0.98 * rtt_ms} ms', '{1.02 * rtt_ms} ms']}}"),
    ],
}
READING_SEEDS = 3


def _each(setting: str) -> list[str]:
    return [f"traffic.{place}.{setting}" for place in range(len(FLOWS))]


def under_each(*, drops: bool, seeds: int, jobs: int) -> dict[str, list[Point]]:
    """Run the three RTTs for each variant but the chosen one, with at most three seeds."""
    return {
        name: [
            _run(rtt_ms, drops, tuple(sets(rtt_ms)), min(seeds, READING_SEEDS), jobs)
            for rtt_ms in RTTS_MS
        ]
        for name, sets in READINGS.items()
    }


def points(*, drops: bool, seeds: int, jobs: int, progress: Progress, quick: bool) -> list[Point]:
    """Run the three RTTs with the buffers of eq. 7, or with ``drops`` those of inequality 14."""
    return [
        _point(rtt_ms, drops, seeds, jobs, report, quick)
        for rtt_ms, report in each_with(progress, RTTS_MS)
    ]


def dots(made: list[Any], values: list[float], name: str) -> Line:
    """Return a value for each RTT as dots of a figure; ``made`` are points of any engine."""
    return Line([float(each.rtt_ms) for each in made], values, name, "dots")


def spread() -> float:
    """a / sqrt(n) of the mix as printed in the paper: deviation over mean of W (eq. 6)."""
    a = forebay.laws.heterogeneous.mixed(FLOWS, as_printed=True)
    return float(a / sum(FLOWS.values()) ** 0.5)


def deviation(point: Point, quick: bool) -> float:
    """Standard deviation of W over its mean, measured in one replication, over `spread`."""
    sets = [*overrides(point.rtt_ms, quick), f"queue.size={point.buffer} packets"]
    window = forebay.trace(forebay.load(SCENARIO, sets), step="20 ms").window_sum_packets
    return float(window.std() / window.mean()) / spread()


def least_mean(bdp: float) -> float:
    """Mean of W that inequality 1 needs, with the deviation of eq. 6: eq. 8; packets."""
    h = forebay.laws.heterogeneous
    a = h.mixed(FLOWS, as_printed=True)
    return float(h.mean_of_mix(bdp, a, sum(FLOWS.values()), TAU, as_printed=True))


def least_buffer(mean: float, bdp: float, times: float = 1.0) -> float:
    """Buffer that inequality 10 needs for a mean of W, packets; none if below zero.

    ``times`` : the deviation of W over that of eq. 6.
    """
    z = float(forebay.laws.heterogeneous.z_score(RHO, as_printed=True))
    return (z * times * spread() * mean + mean) * (1 - PHI) - bdp


def buffer_of(bdp: float, drops: bool) -> int:
    h = forebay.laws.heterogeneous
    a, n = h.mixed(FLOWS, as_printed=True), sum(FLOWS.values())
    if drops:
        return round(float(h.for_utilization_and_drops(bdp, a, n, TAU, PHI, RHO, as_printed=True)))
    return round(float(h.for_utilization(bdp, a, n, TAU, as_printed=True)))


_kept: dict[tuple[int, bool, int, bool], Point] = {}


def _point(
    rtt_ms: int, drops: bool, seeds: int, jobs: int, progress: Progress, quick: bool
) -> Point:
    """Run one RTT, or use the cached result: two figures use the same runs."""
    key = (rtt_ms, drops, seeds, quick)
    if key not in _kept:
        _kept[key] = _run(rtt_ms, drops, (), seeds, jobs, progress, quick)
    return _kept[key]


def _run(
    rtt_ms: int,
    drops: bool,
    more: tuple[str, ...],
    seeds: int,
    jobs: int,
    progress: Progress = None,
    quick: bool = False,
) -> Point:
    sets = overrides(rtt_ms, quick)
    buffer = buffer_of(bdp_of(tuple(sets)), drops)
    scenario = forebay.load(SCENARIO, [*sets, f"queue.size={buffer} packets", *more])
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    return _read(rtt_ms, outcome)


def overrides(rtt_ms: int, quick: bool) -> list[str]:
    sets = [f"traffic.{place}.rtt={rtt_ms} ms" for place in range(len(FLOWS))]
    return [*sets, "measure.duration=10 s"] if quick else sets


@cache
def bdp_of(sets: tuple[str, ...]) -> float:
    return forebay.load(SCENARIO, sets).bdp_packets


def _read(rtt_ms: int, outcome: forebay.Outcome) -> Point:
    link = outcome.links["bottleneck"]
    assert link.utilization is not None and link.loss_rate is not None
    return Point(
        rtt_ms=rtt_ms,
        bdp=link.bdp_packets,
        buffer=link.buffer_packets,
        utilization=percent(link.utilization),
        loss=percent(link.loss_rate),
        window=held(link),
    )


def held(link: Any) -> float:
    """Mean of W as packets in the network: in propagation and in the queue.

    All flows have one RTT, so the packets in propagation are utilization times BDP. Packets that a
    receiver has not yet acknowledged are in the senders' windows but not counted here, because
    they use neither BDP nor buffer (eq. 9).
    """
    assert link.utilization is not None
    assert link.queue_packets is not None and link.queue_packets.mean is not None
    return float(link.utilization.value * link.bdp_packets + link.queue_packets.mean.value)
