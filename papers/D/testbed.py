"""The mix of `mix.py` on the testbed. Figures 9 to 12 are made from the same runs, kept here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.measured import Cell, Measured, facts, record
from forebay.outcome import Metric
from forebay.report import beside, percent, scaled

HERE = Path(__file__).resolve().parent
mix: Any = beside(Path(__file__).resolve(), "mix")  # beside this file

Progress = Callable[[float], None] | None

# The same packets at a quarter of the speed: a link of a quarter, a round trip of four times, so
# that BDP, buffer and windows are the same and the router has four times as long for a packet.
SLOW = {"link_mbps": 155.5, "rtt_ms": 268}
SLOW_SETS = ["link.rate=155.5 Mbit/s", "measure.warmup=30 s", "measure.duration=40 s"]


@dataclass(frozen=True, slots=True)
class Played:
    """What the testbed has recorded for one RTT.

    Attributes
    ----------
    rtt_ms, bdp, buffer : as in `Point`.
    utilization, loss, window, deviation : percent, percent, packets, and deviation of W over
        that of eq. 6.
    """

    rtt_ms: int
    bdp: float
    buffer: int
    utilization: Metric
    loss: Metric
    window: Metric
    deviation: Metric


def played(*, drops: bool) -> list[Played]:
    """Return what is recorded of the three RTTs; one that is not has no entry."""
    found = [_recorded(rtt_ms, drops) for rtt_ms in mix.RTTS_MS]
    return [each for each in found if each is not None]


def note() -> str:
    """Say when and on which kernel the testbed was run, and how it differs from the paper's."""
    return Measured(HERE).note()


def measure(*, drops: bool, seeds: int, progress: Progress, again: bool) -> list[str]:
    """Play the three RTTs on the testbed, with one set of buffers, and record them."""
    asked = range(1, seeds + 1)
    return record(HERE, testbed_cells(drops), seeds=asked, progress=progress, again=again)


def testbed_cells(drops: bool) -> list[Cell]:
    """Return what the testbed plays: 45 s of real time each, and the slow one."""
    keys = [_key(rtt_ms, drops) for rtt_ms in mix.RTTS_MS]
    if not drops:
        keys.append({**SLOW, "packets": _key(67, drops)["packets"]})
    return [Cell(key, _play(scenario_of(**key))) for key in keys]


def scenario_of(link_mbps: float, rtt_ms: int, packets: int) -> forebay.Scenario:
    """Return what the testbed plays."""
    sets = [*mix.overrides(rtt_ms, quick=False), f"queue.size={packets} packets"]
    return forebay.load(mix.SCENARIO, [*sets, *(SLOW_SETS if link_mbps < 622 else [])])


def _key(rtt_ms: int, drops: bool) -> dict[str, Any]:
    bdp = mix.bdp_of(tuple(mix.overrides(rtt_ms, quick=False)))
    return {"link_mbps": 622, "rtt_ms": rtt_ms, "packets": mix.buffer_of(bdp, drops)}


def _play(scenario: forebay.Scenario) -> Callable[..., Mapping[str, Any]]:
    return lambda seed, told: _watch(scenario, seed, told)


def _watch(scenario: forebay.Scenario, seed: int, told: Progress) -> dict[str, Any]:
    """Play one replication, watched: the deviation of W comes from the trace."""
    step = forebay.scenario.Duration(0.05)
    engine: Any = forebay.engines.get("testbed")
    seen = engine.trace(scenario, step=step, flows=(0,), seed=seed, progress=told)
    outcome = engine.run(scenario, [seed])  # the same replication: it is not played again
    window = seen.window_sum_packets
    return {
        "window_packets": mix.held(outcome.links["bottleneck"]),
        "deviation": float(window.std() / window.mean()),
        "class_bps": [round(each.goodput_bps.value) for each in outcome.classes],
        **facts(outcome),
    }


def _recorded(rtt_ms: int, drops: bool) -> Played | None:
    key, measured = _key(rtt_ms, drops), Measured(HERE)
    names = ("utilization", "loss_rate", "window_packets", "deviation")
    used, lost, window, deviation = (measured.metric(key, name) for name in names)
    if used is None or lost is None or window is None or deviation is None:
        return None
    return Played(
        rtt_ms=rtt_ms,
        bdp=scenario_of(**key).bdp_packets,
        buffer=key["packets"],
        utilization=percent(used),
        loss=percent(lost),
        window=window,
        deviation=scaled(deviation, 1.0 / mix.spread()),
    )
