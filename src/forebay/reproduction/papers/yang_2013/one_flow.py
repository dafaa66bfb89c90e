"""Figures 1 and 3 and Tables II and III by simulation: windows of the five protocols, traced."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from forebay.report import Line, Panel, Picture
from forebay.reproduction import Reproduction, Work, artefact, bars
from forebay.reproduction.papers.yang_2013.laws import from_normal

FLOWS = (10, 50, 100, 200)
CONTROLS = {  # the paper's protocols: names of the laws, of the simulator, and in Table III
    "reno": ("reno", "RENO"),
    "bic": ("bic", "BIC"),
    "cubic_beta_0_8": ("cubic-beta-0.8", "CUBIC'"),
    "cubic_beta_0_7": ("cubic-beta-0.7", "CUBIC''"),
    "ctcp": ("compound", "CTCP"),
}
RTT_S = 0.1
SETTLED = 2  # decreases at the end of slow start
_AVOIDANCE = 2  # congestion avoidance, a state of docs/reference/readings.md
SHOWN_S = 60.0


@artefact()
def fig1_simulated(work: Work) -> Reproduction:
    """The sum of n windows approaches the normal distribution; ``quick`` measures 40 s."""

    def standard(part: Work, n: int, seed: int) -> Any:
        sets = [f"traffic.0.flows={n}", *(["measure.duration=40 s"] if work.quick else [])]
        window = part.trace(sets, "50 ms", seed).window_sum_packets
        return (window - window.mean()) / window.std()

    seeds = range(1, work.effort.seeds + 1)
    found = work.over([(n, seed) for n in FLOWS for seed in seeds], standard)
    every = {n: np.sort(np.concatenate([found[n, seed] for seed in seeds])) for n in FLOWS}
    distance = {n: from_normal(each) for n, each in every.items()}
    ours = {
        "distance-200": distance[200],
        "nearer-50": distance[10] - distance[50],
        "nearer-200": distance[10] - distance[200],
    }
    panels = [_bell(n, each, distance[n]) for n, each in every.items()]
    return work.judge(ours, picture=Picture(panels, columns=2))


def _bell(n: int, standard: Any, distance: float) -> Panel:
    middles, density = bars(standard, 50, "sum of n windows", (-4, 4))
    normal = Line(middles.tolist(), [NormalDist().pdf(x) for x in middles], "normal")
    title = f"{n} flows: distance {distance:.3f}"
    return Panel([density, normal], "W less its mean, over its deviation", "density", title=title)


@artefact()
def fig3(work: Work) -> Reproduction:
    """The epochs of one flow of each protocol; no randomness, so one run suffices."""

    def watch(part: Work, name: str) -> Any:
        return part.trace([f"traffic.0.congestion_control={CONTROLS[name][0]}"], "20 ms")

    traces = work.over(list(CONTROLS), watch)
    ours = {
        name: float(np.mean(np.diff(_cuts(trace)))) / epoch(name, _peak(trace))
        for name, trace in traces.items()
    }
    panels = []
    for name, trace in traces.items():
        line = Line(trace.at_s.tolist(), trace.flows[0].cwnd_packets.tolist(), name)
        panels.append(Panel([line], "s", "window, packets", title=name))
    return work.judge(ours, picture=Picture(panels))


def epoch(name: str, w_max: float) -> float:
    """T of Table II as printed, seconds."""
    seconds: dict[str, float] = {
        "reno": 0.5 * w_max * RTT_S,
        "bic": RTT_S,
        "cubic_beta_0_8": float(np.cbrt(w_max * 0.8 / 0.4)),
        "cubic_beta_0_7": float(np.cbrt(w_max * 0.7 / 0.4)),
        "ctcp": 5.1 * w_max**0.25 * RTT_S,
    }
    return seconds[name]


def _cuts(trace: Any) -> Any:
    """Times of the window's decreases, one for each event."""
    at_s = trace.reductions.at_s
    alone = np.concatenate(([True], np.diff(at_s) > 3 * RTT_S))
    return at_s[alone][SETTLED:]


def _peak(trace: Any) -> float:
    """Mean of the largest window of each epoch, packets."""
    window, spans = trace.flows[0].cwnd_packets, pairwise(_cuts(trace))
    return float(np.mean([window[(trace.at_s >= a) & (trace.at_s < b)].max() for a, b in spans]))


@artefact()
def table3_simulated(work: Work) -> Reproduction:
    """Mean and deviation of one flow's window; there is no randomness. ``quick`` traces 150 s."""
    shorter, numbers, panels = ["measure.duration=150 s"] if work.quick else [], {}, []
    for (control, name), part in work.each(list(CONTROLS.values())):
        trace = part.trace([f"traffic.0.congestion_control={control}", *shorter])
        flow = trace.flows[0]
        window = np.asarray(flow.cwnd_packets)[np.asarray(flow.state) == _AVOIDANCE]
        # The largest: mean of the windows just before each decrease of more than a tenth.
        largest = float(window[:-1][window[1:] < 0.9 * window[:-1]].mean())
        numbers[f"mean-{control}"] = float(window.mean() / largest)
        numbers[f"deviation-{control}"] = float(window.std() / window.mean())
        seen = trace.at_s < trace.at_s[0] + SHOWN_S
        line = Line(trace.at_s[seen][::10].tolist(), flow.cwnd_packets[seen][::10].tolist())
        panels.append(Panel([line], "time, s", "window, packets", name))
    return work.judge(numbers, picture=Picture(panels, columns=2))
