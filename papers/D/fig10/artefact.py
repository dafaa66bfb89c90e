"""Figure 10 of paper D: mean of the aggregate against inequality 1."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from forebay.report import Line, Panel, Picture, Reproduction, judge

HERE = Path(__file__).resolve().parent
NOTES = [
    "Buffers as the paper set them: its z of 2.05 and its Table III (papers/D/text has the right "
    "ones), rounded to a packet; 1500 B packets, constant RTTs.",
    "W is what the network holds: utilization times BDP, and the mean queue. The bound is eq. 8, "
    "inequality 1 with the deviation of eq. 6.",
    "The deviation is that of the sum of all congestion windows in one traced replication.",
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
    points = mix.points(drops=False, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    bounds = [mix.least_mean(point.bdp) for point in points]
    lines = [
        Line(rtts, [point.window for point in points], "mean of W, ours", "dots"),
        Line(rtts, bounds, "least by inequality 1", "dashes"),
    ]
    return judge(
        "D.fig10",
        "Paper D, Figure 10: mean of the aggregate against inequality 1",
        HERE,
        {
            f"ratio-{point.rtt_ms}": point.window / bound
            for point, bound in zip(points, bounds, strict=True)
        }
        | {f"deviation-{point.rtt_ms}": mix.deviation(point, quick) for point in points},
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )
