"""Figures 8 and 9 and section 3.2: the sum of many windows, and whether flows are in step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

import forebay
from forebay.report import Line
from forebay.reproduction import Reproduction, Work, artefact, bars, chart
from forebay.reproduction.papers.appenzeller_2004.readings import readings

MEAN_RTT_MS = 126
BINS = 40
MANY, FEW = 200, 50
WINDOW, SMALL_WINDOW = 26.0, 5.0
"""Packets in flight of a flow: here 26; on the OC3 of Figure 11 with 250 flows 5."""


@artefact()
def fig8(work: Work) -> Reproduction:
    """Trace each replication, and average: one of 60 s is 0.02 to 0.06 from normal.

    ``quick`` is two thirds as long.
    """
    sets = ["measure.duration=40 s"] if work.quick else []
    traces, scenario = _traces(work, sets), work.load(sets)
    ours = _sums(scenario, traces) | _by_window(work.untold())

    def numbers(alone: Work, sets: Iterable[str]) -> dict[str, float]:
        return _sums(alone.load(sets), _traces(alone, sets)) | _by_window(alone, sets)

    return work.judge(
        ours,
        picture=_bell(traces[0], traces[0].window_sum_fit, scenario.n_flows),
        variants=work.under_each(readings(MEAN_RTT_MS), ours, numbers),
    )


def _traces(work: Work, sets: Iterable[str]) -> list[Any]:
    traces = work.over_seeds(lambda part, seed: part.trace(sets, seed=seed))
    if any(trace.window_sum_fit is None for trace in traces):
        raise ValueError("the sum of the windows was not sampled")
    return traces


def _sums(scenario: forebay.Scenario, traces: list[Any]) -> dict[str, float]:
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


def _by_window(work: Work, changes: Iterable[str] = ()) -> dict[str, float]:
    """Return idle shares at the rule's buffer where windows or numbers of flows are the same.

    The rate goes with the number of flows, so that bdp/n stays.
    """
    whole = work.load()

    def idle(flows: int, window: float) -> float:
        rate = whole.link.capacity * flows * window / whole.bdp_packets
        sets = [f"link.rate={rate / 1e6:.3f} Mbit/s", f"traffic.0.flows={flows}"]
        return 100 * (1 - work.used([*changes, *sets]))

    large, small = ([idle(n, window) for n in (MANY, FEW)] for window in (WINDOW, SMALL_WINDOW))
    return {
        "same-window": abs(large[0] - large[1]),
        "small-window": 100 - max(small),
        "large-window": 100 - min(large),
    }


def _bell(trace: Any, fit: Any, flows: int) -> Any:
    middles, density = bars(trace.window_sum_packets, BINS, "ΣW")
    link = trace.bottleneck
    bound = float(forebay.laws.desynchronized.sigma(link.buffer_packets, link.bdp_packets, flows))

    def normal(sigma: float) -> Any:
        return np.exp(-(((middles - fit.mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))

    wide, narrow = normal(fit.standard_deviation), normal(bound)
    ends = (link.bdp_packets, link.bdp_packets + link.buffer_packets)
    marks = [Line([at, at], [0.0, float(wide.max())], "fits the buffer", "dashes") for at in ends]
    lines = [
        density,
        Line(middles.tolist(), wide.tolist(), "normal"),
        Line(middles.tolist(), narrow.tolist(), "with the paper's bound"),
        *marks,
    ]
    return chart(lines, "ΣW, packets", "density")


@artefact()
def fig9(work: Work) -> Reproduction:
    """Trace one replication; ``quick`` a third as long."""
    sets = ["measure.duration=20 s"] if work.quick else []
    trace, bdp = work.trace(sets), work.load(sets).bdp_packets
    ours = _together(trace)
    variants = work.under_each(
        readings(MEAN_RTT_MS), ours, lambda alone, sets: _together(alone.trace(sets))
    )
    x, queue = trace.at_s.tolist(), (trace.bottleneck.queue_packets + bdp).tolist()
    lines = [Line(x, trace.window_sum_packets.tolist(), "ΣW"), Line(x, queue, "queue + 10,500")]
    return work.judge(ours, picture=chart(lines, "s", "packets"), variants=variants)


def _together(trace: Any) -> dict[str, float]:
    windows, queue = trace.window_sum_packets, trace.bottleneck.queue_packets
    return {
        "offset": float(np.mean(windows - queue)),
        "follows": float(np.corrcoef(windows, queue)[0, 1]),
    }


FLOWS = (10, 20, 50, 100, 200, 500, 800)
CHOSEN = "RTTs 80–120 ms"
READINGS = {
    "ACKs delayed, 40 ms": ["traffic.0.delayed_ack=true"],
    "RTTs 98–102 ms": ["traffic.0.rtt={uniform=['98 ms', '102 ms']}"],
    "RTTs all 100 ms": ["traffic.0.rtt=100 ms"],
}


@artefact()
def synchronization(work: Work) -> Reproduction:
    """Trace every number of flows twice; ``quick`` once."""
    work = work.once_if_quick(2)
    means = {CHOSEN: _correlations(work, ())}
    if not work.quick:
        means |= {name: _correlations(work.untold(), sets) for name, sets in READINGS.items()}
    under = {name: _steps(each) for name, each in means.items()}
    lines = [Line(list(mean), list(mean.values()), name) for name, mean in means.items()]
    return work.judge(
        under[CHOSEN],
        picture=chart(lines, "flows", "correlation of two windows", log="x"),
        variants=None if work.quick else work.variants(under),
    )


def _correlations(work: Work, sets: Iterable[str]) -> dict[int, float]:
    """Mean correlation of two windows for each number of flows."""

    def correlation(part: Work, n: int, seed: int) -> float:
        trace = part.trace([f"traffic.0.flows={n}", *sets], seed=seed)
        index = trace.synchronization.index
        return math.nan if index is None else (index - 1) / (n - 1)

    seeds = range(1, work.effort.seeds + 1)
    found = work.over([(n, seed) for n in FLOWS for seed in seeds], correlation)
    return {n: float(np.mean([found[n, seed] for seed in seeds])) for n in FLOWS}


def _steps(mean: dict[int, float]) -> dict[str, float]:
    return {
        "common": min(mean[n] for n in FLOWS if n < 100),
        "rare": max(mean[n] for n in FLOWS if n >= 500),
        "falls": min(mean[few] - mean[many] for few, many in pairwise((10, 100, 500))),
    }
