"""Section 6 on Morris: more flows than packets in flight need a buffer of some packets a flow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS, BDP = 1500, 217
BUFFERS, QUICK = (BDP, 750, 1500, 3000, 6000, 9000), (BDP, 6000)
ENOUGH = 6000  # four packets a flow
Point = tuple[float, float, float]  # timeouts per flow and minute, Jain's index, utilization


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every buffer; ``quick`` only the two that are compared, once."""
    buffers, seeds = (QUICK, 1) if quick else (BUFFERS, seeds)
    scenario = forebay.load(HERE / "scenario.toml")
    found = {
        buffer: _run(scenario, buffer, seeds, jobs, part)
        for buffer, part in each_with(progress, buffers)
    }
    few, many = found[BDP], found[ENOUGH]
    return judge(
        "appenzeller-2004/morris",
        "Appenzeller et al. 2004, section 6: 1500 flows over 10 Mbit/s",
        HERE,
        {
            "bdp": scenario.bdp_packets,
            "fraction": scenario.bdp_packets / FLOWS,
            "timeouts": few[0],
            "cured": 100 * many[0] / few[0],
            "fairness": many[1] / few[1],
            "utilization": 100 * (many[2] - few[2]),
        },
        picture=_picture(found),
    )


def _run(
    scenario: forebay.Scenario,
    buffer: int,
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> Point:
    asked = scenario.with_buffer(buffer)
    outcome = forebay.run(asked, seeds=seeds, jobs=jobs, progress=progress)
    flows, minutes = outcome.classes[0], scenario.measure.duration / 60
    used = _value(outcome.links["bottleneck"].utilization)
    return _value(flows.timeouts) / FLOWS / minutes, _value(flows.jain), used


def _value(metric: Any) -> float:
    return math.nan if metric is None else float(metric.value)


def _picture(found: dict[int, Point]) -> Picture:
    x = [buffer / FLOWS for buffer in found]
    names = ("timeouts of a flow in a minute", "Jain's index", "utilization")
    panels = [
        Panel([Line(x, [point[i] for point in found.values()])], "buffer, packets a flow", name)
        for i, name in enumerate(names)
    ]
    return Picture(panels, columns=3)
