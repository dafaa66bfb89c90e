"""Figure 8: the sum of many windows is normal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge, side_by_side
from forebay.reproduction.papers.appenzeller_2004 import readings as open_choices

HERE = Path(__file__).resolve().parent
BINS = 40
MANY, FEW = 200, 50
WINDOW, SMALL_WINDOW = 26.0, 5.0
"""Packets in flight of a flow: here 26; on the OC3 of Figure 11 with 250 flows 5."""
SAYS = (
    "The figure shows a normal curve and no number. ACKs delayed by 40 ms, which bring other rows "
    "in, make the sum less normal than an eye would let pass and put more flows in step: this "
    "figure speaks against them. No reading brings the deviation under the paper's bound."
)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace each replication, and average: one of 60 s is 0.02 to 0.06 from normal.

    ``quick`` is two thirds as long.
    """
    scenario, traces = _watch(["measure.duration=40 s"] if quick else [], seeds, progress)
    ours = _numbers(scenario, traces) | _by_window(seeds, jobs)
    under = {} if quick else open_choices.under_each(126, ours, lambda it: _under(it, seeds))
    return judge(
        "appenzeller-2004/fig8",
        f"Appenzeller et al. 2004, Figure 8: the sum of {scenario.n_flows} windows",
        HERE,
        ours,
        picture=_picture(traces[0], traces[0].window_sum_fit, scenario.n_flows),
        variants=None if quick else side_by_side(HERE, under, SAYS),
    )


def _watch(
    changes: Iterable[str], seeds: int, progress: Progress | None = None
) -> tuple[forebay.Scenario, list[Any]]:
    scenario = forebay.load(HERE / "scenario.toml", list(changes))
    parts = each_with(progress, range(1, seeds + 1))
    traces = [
        forebay.trace(scenario, step="10 ms", seed=seed, progress=part) for seed, part in parts
    ]
    if any(trace.window_sum_fit is None for trace in traces):
        raise ValueError("the sum of the windows was not sampled")
    return scenario, traces


def _numbers(scenario: forebay.Scenario, traces: list[Any]) -> dict[str, float]:
    fits = [trace.window_sum_fit for trace in traces]
    bound = (scenario.bdp_packets + scenario.buffer_packets) / math.sqrt(27 * scenario.n_flows)
    return {
        "normal": mean(fit.kolmogorov_smirnov for fit in fits),
        "skewness": mean(fit.skewness for fit in fits),
        "deviation": mean(100 * fit.standard_deviation / bound for fit in fits),
        "hazard": mean(100 * _over_hazard(trace, scenario.n_flows) for trace in traces),
        "in-step": mean(trace.synchronization.index for trace in traces),
    }


def _over_hazard(trace: Any, flows: int) -> float:
    fit, index = trace.window_sum_fit, trace.synchronization.index
    law = forebay.laws.desynchronized.sigma_of_constant_hazard(fit.mean, flows, index)
    return float(fit.standard_deviation / law)


def _under(changes: Iterable[str], seeds: int) -> dict[str, float]:
    return _numbers(*_watch(changes, seeds)) | _by_window(seeds, 0, changes)


def _by_window(seeds: int, jobs: int, changes: Iterable[str] = ()) -> dict[str, float]:
    """Return idle shares at the rule's buffer where windows or numbers of flows are the same.

    The rate goes with the number of flows, so that bdp/n stays.
    """
    idle = partial(_idle, seeds=seeds, jobs=jobs, changes=changes)
    large = [idle(flows, WINDOW) for flows in (MANY, FEW)]
    small = [idle(flows, SMALL_WINDOW) for flows in (MANY, FEW)]
    return {
        "same-window": abs(large[0] - large[1]),
        "small-window": 100 - max(small),
        "large-window": 100 - min(large),
    }


def _idle(flows: int, window: float, seeds: int, jobs: int, changes: Iterable[str]) -> float:
    """Return the idle share of a link with so many flows of a window each, in percent."""
    whole = forebay.load(HERE / "scenario.toml")
    rate = whole.link.capacity * flows * window / whole.bdp_packets
    sets = [f"link.rate={rate / 1e6:.3f} Mbit/s", f"traffic.0.flows={flows}"]
    scenario = forebay.load(HERE / "scenario.toml", [*changes, *sets])
    used = forebay.run(scenario, seeds=seeds, jobs=jobs).links["bottleneck"].utilization
    return math.nan if used is None else 100 * (1 - used.value)


def _picture(trace: Any, fit: Any, flows: int) -> Picture:
    density, edges = np.histogram(trace.window_sum_packets, bins=BINS, density=True)
    middles = (edges[:-1] + edges[1:]) / 2
    z = (middles - fit.mean) / fit.standard_deviation
    normal = np.exp(-(z**2) / 2) / (fit.standard_deviation * math.sqrt(2 * math.pi))
    link = trace.bottleneck
    bound = float(forebay.laws.desynchronized.sigma(link.buffer_packets, link.bdp_packets, flows))
    narrow = np.exp(-(((middles - fit.mean) / bound) ** 2) / 2) / (bound * math.sqrt(2 * math.pi))
    ends = (link.bdp_packets, link.bdp_packets + link.buffer_packets)
    marks = [Line([at, at], [0.0, float(normal.max())], "fits the buffer", "dashes") for at in ends]
    lines = [
        Line(middles.tolist(), density.tolist(), "ΣW", "bars"),
        Line(middles.tolist(), normal.tolist(), "normal"),
        Line(middles.tolist(), narrow.tolist(), "with the paper's bound"),
        *marks,
    ]
    return Picture([Panel(lines, "ΣW, packets", "density")])
