"""One replication over time, for the page's slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import forebay
from forebay.web.answering import MEMORY
from forebay.web.runs import Run
from forebay.web.shorter import shorter

_SAMPLES, _MOST_FLOWS = 600, 4
_MOST_PACKETS = 5_000_000
"""Packets of the replication: a second or two of a processor."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Work that traces seed 1 of a question at one buffer."""

    scenario: forebay.Scenario

    def __call__(self, run: Run) -> None:
        """Send the series."""
        scenario, note = _short_enough(self.scenario)
        flows = watched(scenario)
        step_s = float(scenario.measure.duration) / _SAMPLES

        def progress(fraction: float) -> None:
            run.goes_on(fraction)
            run.send("progress", {"fraction": fraction})

        trace = forebay.trace(
            scenario, step=f"{step_s:.9f} s", flows=flows, memory_limit=MEMORY, progress=progress
        )
        run.send("replayed", {**series(trace), "note": note})


def watched(scenario: forebay.Scenario) -> list[int]:
    """Return a few of the long flows' numbers, evenly through the first class of them.

    None behind a class whose number of flows is drawn: their numbers are not known.
    """
    first = 0
    for group in scenario.traffic:
        many = int(getattr(group, "flows", None) or 0)
        if group.kind == "long" and many:
            some = min(many, _MOST_FLOWS)
            return sorted({first + index * (many - 1) // max(1, some - 1) for index in range(some)})
        if not many:
            return []  # how many flows come before is drawn
        first += many
    return []


def _short_enough(scenario: forebay.Scenario) -> tuple[forebay.Scenario, str]:
    """Return the scenario with a window that is simulated in seconds, and what was shortened."""
    short = shorter(scenario, _MOST_PACKETS, float(scenario.measure.warmup))
    if short is None:
        return scenario, ""
    warmup, window = short.measure.warmup, short.measure.duration
    note = f"{window:.2g} s after {warmup:.2g} s are replayed, less than the search simulates"
    return short, note


def series(trace: forebay.Trace) -> dict[str, Any]:
    """Return a trace as JSON lists; ``windows`` by flow, ``drops`` in each step."""
    link, fit = trace.bottleneck, trace.window_sum_fit
    steps = np.round((trace.drops.at_s - trace.at_s[0]) / trace.step_s).astype(int)
    inside = np.clip(steps, 0, trace.at_s.size - 1)
    drops = np.bincount(inside, weights=trace.drops.count, minlength=trace.at_s.size)
    return {
        "at_s": _rounded(trace.at_s),
        "queue": link.queue_packets.tolist(),
        "buffer": link.buffer_packets,
        "sum": _rounded(trace.window_sum_packets),
        "windows": {str(n): _rounded(flow.cwnd_packets) for n, flow in trace.flows.items()},
        "drops": drops.astype(int).tolist(),
        "utilization": link.utilization,
        "seed": trace.seed,
        "fit": None if fit is None else {
            "mean": fit.mean, "deviation": fit.standard_deviation,
            "distance": fit.kolmogorov_smirnov,
        },
    }  # fmt: skip


def _rounded(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    return [round(float(value), 4) for value in values]
