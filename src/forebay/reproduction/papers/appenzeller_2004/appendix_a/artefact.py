"""Appendix A: growth of a window in slow start and in congestion avoidance."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.reproduction import Progress, Reproduction, judge, side_by_side
from forebay.reproduction.papers.appenzeller_2004 import readings as open_choices

HERE = Path(__file__).resolve().parent
RTT_S = 0.142
SAYS = (
    "Appendix A describes receivers that acknowledge each packet. With delayed ACKs slow start "
    "grows by half instead of doubling, and congestion avoidance adds half a packet a round trip."
)
NOTES = [
    "One flow, whose round trip hardly changes as long as its window is below bdp (142 packets)."
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace one flow; the run has no randomness, so one suffices."""
    ours = _numbers(())
    sets = {
        name: each
        for name, each in open_choices.readings(142).items()
        if not any("rtt=" in setting for setting in each)  # one flow has no spread
    }
    under = {name: _numbers(each) if each else ours for name, each in sets.items()}
    return judge(
        "appenzeller-2004/appendix-a",
        "Appenzeller et al. 2004, appendix A: how a window grows",
        HERE,
        ours,
        notes=NOTES,
        variants=side_by_side(HERE, under, SAYS),
    )


def _numbers(sets: Iterable[str]) -> dict[str, float]:
    begun = _watch(["link.rate=1 Gbit/s", "measure.duration=1 s", *sets], "1 ms")
    settled = _watch(["measure.warmup=100 s", *sets], "20 ms")
    window = begun.flows[0].cwnd_packets
    first = float(window[window > 0][0])
    return {"first": first, "doubles": _doubles(begun), "adds": _adds(settled)}


def _watch(sets: Iterable[str], step: str) -> Any:
    return forebay.trace(forebay.load(HERE / "scenario.toml", list(sets)), step=step)


def _doubles(trace: Any) -> float:
    """Growth factor for each round trip, from the end of the first to the end of the sixth."""
    ends = [np.argmax(trace.at_s >= (k + 0.5) * RTT_S) for k in (1, 6)]
    first, last = (float(trace.flows[0].cwnd_packets[end]) for end in ends)
    return float((last / first) ** 0.2)


def _adds(trace: Any) -> float:
    """Growth in packets for each round trip between two losses while the queue is empty."""
    begin, end = trace.reductions.at_s[-2:]
    window, queue = trace.flows[0].cwnd_packets, trace.bottleneck.queue_packets
    climbs = (trace.at_s > begin + 5 * RTT_S) & (trace.at_s < end) & (queue <= 2)
    return float(np.polyfit(trace.at_s[climbs], window[climbs], 1)[0]) * RTT_S
