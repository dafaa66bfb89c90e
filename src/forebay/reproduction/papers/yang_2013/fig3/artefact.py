"""Figure 3 and Table II: the epochs of five protocols, by simulation."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
PROTOCOLS = {
    "reno": "reno",
    "bic": "bic",
    "cubic_beta_0_8": "cubic-beta-0.8",
    "cubic_beta_0_7": "cubic-beta-0.7",
    "ctcp": "compound",
}
RTT_S = 0.1
SETTLED = 2  # decreases at the end of slow start
NOTES = [
    "One flow, buffer a twentieth of bdp, so that the round trip hardly changes. T as printed is "
    "taken at the mean of the windows before a cut; an epoch is the time between two cuts.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace one flow of each protocol; no randomness, so one run suffices."""
    traces = {
        name: forebay.trace(
            forebay.load(HERE / "scenario.toml", [f"traffic.0.congestion_control={linux}"]),
            step="20 ms",
            progress=part,
        )
        for (name, linux), part in each_with(progress, list(PROTOCOLS.items()))
    }
    return judge(
        "yang-2013/fig3",
        "Yang et al. 2013, Figure 3 and Table II: epochs of five protocols",
        HERE,
        {name: _epoch(trace) / printed(name, _peak(trace)) for name, trace in traces.items()},
        notes=NOTES,
        picture=Picture([_panel(name, trace) for name, trace in traces.items()]),
    )


def printed(name: str, w_max: float) -> float:
    """T of Table II as printed, seconds."""
    seconds: dict[str, float] = {
        "reno": 0.5 * w_max * RTT_S,
        "bic": RTT_S,
        "cubic_beta_0_8": float(np.cbrt(w_max * 0.8 / 0.4)),
        "cubic_beta_0_7": float(np.cbrt(w_max * 0.7 / 0.4)),
        "ctcp": 5.1 * w_max**0.25 * RTT_S,
    }
    return seconds[name]


def _epoch(trace: Any) -> float:
    return float(np.mean(np.diff(_cuts(trace))))


def _cuts(trace: Any) -> Any:
    """Times of the window's decreases, one for each event."""
    at_s = trace.reductions.at_s
    alone = np.concatenate(([True], np.diff(at_s) > 3 * RTT_S))
    return at_s[alone][SETTLED:]


def _peak(trace: Any) -> float:
    """Mean of the largest window of each epoch, packets."""
    window, cuts = trace.flows[0].cwnd_packets, _cuts(trace)
    spans = pairwise(cuts)
    return float(np.mean([window[(trace.at_s >= a) & (trace.at_s < b)].max() for a, b in spans]))


def _panel(name: str, trace: Any) -> Panel:
    line = Line(trace.at_s.tolist(), trace.flows[0].cwnd_packets.tolist(), name)
    return Panel([line], "s", "window, packets", title=name)
