"""Table III by simulation: mean and deviation of one flow's window, for each protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
PROTOCOLS = {
    "reno": "RENO", "bic": "BIC", "cubic-beta-0.8": "CUBIC'", "cubic-beta-0.7": "CUBIC''",
    "compound": "CTCP",
}  # fmt: skip
_AVOIDANCE = 2  # congestion avoidance, a state of docs/reference/readings.md
SHOWN_S = 60.0
NOTES = [
    "One flow of Linux's sender on 100 Mbit/s at 100 ms with 20 packets of buffer, sampled every "
    "10 ms for 400 s in congestion avoidance alone. The largest window is the mean of the epochs' "
    "largest.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace each protocol's flow once: there is no randomness. ``quick`` traces 150 s."""
    numbers, panels = {}, []
    for protocol, report in each_with(progress, list(PROTOCOLS)):
        sets = [f"traffic.0.congestion_control={protocol}"]
        scenario = forebay.load(HERE / "scenario.toml", [*sets, *_shorter(quick)])
        trace = forebay.trace(scenario, step="10 ms", progress=report)
        flow = trace.flows[0]
        window = np.asarray(flow.cwnd_packets)[np.asarray(flow.state) == _AVOIDANCE]
        numbers[f"mean-{protocol}"] = float(window.mean() / _largest(window))
        numbers[f"deviation-{protocol}"] = float(window.std() / window.mean())
        panels.append(_panel(PROTOCOLS[protocol], trace.at_s, flow.cwnd_packets))
    title = "Yang et al. 2013, Table III, played: one flow's window in its epochs"
    return judge(
        "yang-2013/table3-simulated",
        title,
        HERE,
        numbers,
        notes=NOTES,
        picture=Picture(panels, columns=2),
    )


def _shorter(quick: bool) -> list[str]:
    return ["measure.duration=150 s"] if quick else []


def _largest(window: np.ndarray) -> float:
    """Mean of the windows just before each decrease of more than a tenth."""
    cut = window[1:] < 0.9 * window[:-1]
    return float(window[:-1][cut].mean())


def _panel(name: str, at_s: np.ndarray, window: np.ndarray) -> Panel:
    seen = at_s < at_s[0] + SHOWN_S
    line = Line(at_s[seen][::10].tolist(), window[seen][::10].tolist())
    return Panel([line], "time, s", "window, packets", name)
