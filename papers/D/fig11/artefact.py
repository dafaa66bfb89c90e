"""Figure 11 of paper D: utilization and drops with the buffers of inequality 14."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, judge

HERE = Path(__file__).resolve().parent
NOTES = [
    "Buffers as the paper set them: its z of 2.05 and its Table III (papers/D/text has the right "
    "ones), rounded to a packet; 1500 B packets, constant RTTs.",
    "Drops are counted at the queue: packets dropped over packets that arrived.",
]


def _shared() -> ModuleType:
    """Figures 9 to 12 are readings of the same runs."""
    name = "papers_D_mix"
    if name not in sys.modules:
        spec = spec_from_file_location(name, HERE.parent / "mix.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    mix = _shared()
    points = mix.points(drops=True, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    used = [
        Line(rtts, [point.utilization.value for point in points], "ours", "dots"),
        Line(rtts, [97.39] * len(rtts), "as printed, the least", "dashes"),
    ]
    dropped = [
        Line(rtts, [point.loss.value for point in points], "ours", "dots"),
        Line(rtts, [1.0] * len(rtts), "φ", "dashes"),
    ]
    panels = [
        Panel(used, "RTT, ms", "utilization, %"),
        Panel(dropped, "RTT, ms", "drop rate, %"),
    ]
    return judge(
        "D.fig11",
        "Paper D, Figure 11: utilization and drops with the buffers of inequality 14",
        HERE,
        {
            "utilization": min(
                (point.utilization for point in points), key=lambda each: each.value
            ),
            "least-drops": min((point.loss for point in points), key=lambda each: each.value),
            **{f"drops-{point.rtt_ms}": point.loss for point in points},
        },
        notes=NOTES,
        picture=Picture(panels, columns=2),
    )


def _value(metric: Any) -> float:
    return metric.value
