"""The mix of `mix.py` on the testbed. Figures 9 to 12 use the same recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import percent, scaled
from forebay.reproduction import Cell, Measured, Metric, facts, record
from forebay.reproduction.papers.yang_2013 import mix

HERE = Path(__file__).resolve().parent

Progress = Callable[[float], None] | None

# The router of this machine needs 15 us for a packet with both TCP stacks, and at 622 Mbit/s one
# arrives every 19 us. Such runs may meet the timing limits and yet read too low (README.md). So the
# runs are at a quarter of the speed: a quarter of the rate and four times the RTTs, which gives the
# same BDP, buffers and windows, and four times as much time for each packet.
SLOWER = 4
LABEL = "testbed, at a quarter of the speed"
FULL_MBPS = 622.0
SLOW_MBPS = FULL_MBPS / SLOWER
SLOW_SETS = [f"link.rate={SLOW_MBPS} Mbit/s", "measure.warmup=20 s"]
# A sum of windows above this many medians has a window that the kernel reported wrongly.
TELLING = 10


@dataclass(frozen=True, slots=True)
class Played:
    """The testbed's record for one RTT.

    Attributes
    ----------
    rtt_ms, bdp, buffer : as in `Point`; the paper's RTT.
    utilization, loss, window, deviation : percent, percent, packets, and deviation of W over
        that of eq. 6.
    """

    rtt_ms: int
    bdp: float
    buffer: int
    utilization: Metric
    loss: Metric
    window: Metric
    deviation: Metric | None


def played(*, drops: bool) -> list[Played]:
    """Return the records of the three RTTs that there are."""
    found = [_recorded(rtt_ms, drops) for rtt_ms in mix.RTTS_MS]
    return [each for each in found if each is not None]


def note() -> str:
    """Return at which speed, when and on which kernel the testbed ran."""
    slow = (
        f"Exp. ours is NOT at 622 Mbit/s: it is at {SLOW_MBPS:g} Mbit/s and {SLOWER} times the "
        "RTT, the same packets at a quarter of the speed (README.md of yang_2013 says why)."
    )
    return f"{slow} {Measured(HERE).note()}"


def measure(
    *, drops: bool, seeds: int = 2, progress: Progress = None, again: bool = False
) -> list[str]:
    """Run the three RTTs on the testbed, with one set of buffers, and record them.

    Figures 9 and 10 use the runs with the smaller buffers, 11 and 12 the others.
    """
    asked = range(1, seeds + 1)
    return record(HERE, testbed_cells(drops), seeds=asked, progress=progress, again=again)


def testbed_cells(drops: bool) -> list[Cell]:
    """Return the testbed's cells: 50 s of real time each."""
    keys = [_key(rtt_ms, drops) for rtt_ms in mix.RTTS_MS]
    return [Cell(key, _play(scenario_of(**key))) for key in keys]


def full_speed_cells(drops: bool) -> list[Cell]:
    """Return the same at 622 Mbit/s, for faster machines; `measure` does not run them."""
    slow = [_key(rtt_ms, drops) for rtt_ms in mix.RTTS_MS]
    keys = [
        {**key, "link_mbps": FULL_MBPS, "rtt_ms": rtt_ms}
        for key, rtt_ms in zip(slow, mix.RTTS_MS, strict=True)
    ]
    return [Cell(key, _play(scenario_of(**key))) for key in keys]


def scenario_of(link_mbps: float, rtt_ms: int, packets: int) -> forebay.Scenario:
    """Return the testbed's scenario."""
    sets = [*mix.overrides(rtt_ms, quick=False), f"queue.size={packets} packets"]
    return forebay.load(mix.SCENARIO, [*sets, *(SLOW_SETS if link_mbps < FULL_MBPS else [])])


def _key(rtt_ms: int, drops: bool) -> dict[str, Any]:
    """Return the key of one of the paper's RTTs."""
    bdp = mix.bdp_of(tuple(mix.overrides(rtt_ms, quick=False)))
    packets = mix.buffer_of(bdp, drops)
    return {"link_mbps": SLOW_MBPS, "rtt_ms": SLOWER * rtt_ms, "packets": packets}


def _play(scenario: forebay.Scenario) -> Callable[..., Mapping[str, Any]]:
    return lambda seed, told: _watch(scenario, seed, told)


def _watch(scenario: forebay.Scenario, seed: int, told: Progress) -> dict[str, Any]:
    """Run one replication with a trace, from which the deviation of W is computed."""
    step = forebay.scenario.Duration(0.05)
    engine: Any = forebay.engines.get("testbed")
    seen = engine.trace(scenario, step=step, flows=(0,), seed=seed, progress=told)
    outcome = engine.run(scenario, [seed])  # the same replication: cached, not run again
    # For an ACK or two, until it is corrected (docs/explanation/kernel-congestion-controls.md).
    window = seen.window_sum_packets
    kept = window[window < TELLING * np.median(window)]
    return {
        "window_packets": mix.held(outcome.links["bottleneck"]),
        "deviation": float(kept.std() / kept.mean()),
        "samples_left_out": int(window.size - kept.size),
        "class_bps": [round(each.goodput_bps.value) for each in outcome.classes],
        **facts(outcome),
    }


def _recorded(rtt_ms: int, drops: bool) -> Played | None:
    key, measured = _key(rtt_ms, drops), Measured(HERE)
    names = ("utilization", "loss_rate", "window_packets", "deviation")
    share, drops_share, window, deviation = (measured.metric(key, name) for name in names)
    used, lost = percent(share), percent(drops_share)
    if used is None or lost is None or window is None:
        return None
    return Played(
        rtt_ms=rtt_ms,
        bdp=scenario_of(**key).bdp_packets,
        buffer=key["packets"],
        utilization=used,
        loss=lost,
        window=window,
        deviation=None if deviation is None else scaled(deviation, 1.0 / mix.spread()),
    )
