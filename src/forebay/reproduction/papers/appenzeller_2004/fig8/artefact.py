"""Figure 8: the sum of many windows is normal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, side_by_side
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
    """Trace one replication; ``quick`` two thirds as long: 20 s differ from normal by 0.06."""
    scenario, trace = _watch(["measure.duration=40 s"] if quick else [], progress)
    ours = _numbers(scenario, trace) | _by_window(jobs)
    under = {} if quick else open_choices.under_each(126, ours, _under)
    return judge(
        "appenzeller-2004/fig8",
        f"Appenzeller et al. 2004, Figure 8: the sum of {scenario.n_flows} windows",
        HERE,
        ours,
        picture=_picture(trace, trace.window_sum_fit),
        variants=None if quick else side_by_side(HERE, under, SAYS),
    )


def _watch(
    changes: Iterable[str], progress: Progress | None = None
) -> tuple[forebay.Scenario, Any]:
    scenario = forebay.load(HERE / "scenario.toml", list(changes))
    trace = forebay.trace(scenario, step="10 ms", progress=progress)
    if trace.window_sum_fit is None:
        raise ValueError("the sum of the windows was not sampled")
    return scenario, trace


def _numbers(scenario: forebay.Scenario, trace: Any) -> dict[str, float]:
    fit = trace.window_sum_fit
    bound = (scenario.bdp_packets + scenario.buffer_packets) / math.sqrt(27 * scenario.n_flows)
    return {
        "normal": fit.kolmogorov_smirnov,
        "skewness": fit.skewness,
        "deviation": 100 * fit.standard_deviation / bound,
        "in-step": trace.synchronization.index,
    }


def _under(changes: Iterable[str]) -> dict[str, float]:
    return _numbers(*_watch(changes)) | _by_window(0, changes)


def _by_window(jobs: int, changes: Iterable[str] = ()) -> dict[str, float]:
    """Return idle shares at the rule's buffer where windows or numbers of flows are the same.

    The rate goes with the number of flows, so that bdp/n stays.
    """
    large = [_idle(flows, WINDOW, jobs, changes) for flows in (MANY, FEW)]
    small = [_idle(flows, SMALL_WINDOW, jobs, changes) for flows in (MANY, FEW)]
    return {
        "same-window": abs(large[0] - large[1]),
        "small-window": 100 - max(small),
        "large-window": 100 - min(large),
    }


def _idle(flows: int, window: float, jobs: int, changes: Iterable[str]) -> float:
    """Return the idle share of a link with so many flows of a window each, in percent."""
    whole = forebay.load(HERE / "scenario.toml")
    rate = whole.link.capacity * flows * window / whole.bdp_packets
    sets = [f"link.rate={rate / 1e6:.3f} Mbit/s", f"traffic.0.flows={flows}"]
    outcome = forebay.run(forebay.load(HERE / "scenario.toml", [*changes, *sets]), jobs=jobs)
    used = outcome.links["bottleneck"].utilization
    return math.nan if used is None else 100 * (1 - used.value)


def _picture(trace: Any, fit: Any) -> Picture:
    density, edges = np.histogram(trace.window_sum_packets, bins=BINS, density=True)
    middles = (edges[:-1] + edges[1:]) / 2
    z = (middles - fit.mean) / fit.standard_deviation
    normal = np.exp(-(z**2) / 2) / (fit.standard_deviation * math.sqrt(2 * math.pi))
    link = trace.bottleneck
    ends = (link.bdp_packets, link.bdp_packets + link.buffer_packets)
    marks = [Line([at, at], [0.0, float(normal.max())], "fits the buffer", "dashes") for at in ends]
    lines = [
        Line(middles.tolist(), density.tolist(), "ΣW", "bars"),
        Line(middles.tolist(), normal.tolist(), "normal"),
        *marks,
    ]
    return Picture([Panel(lines, "ΣW, packets", "density")])
