"""Figure 12 of paper D: buffers against inequality 10."""

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
    "The bound is inequality 10 with our mean of W (as in D.fig10) and the "
    "deviation of eq. 6. Below zero it asks for no buffer.",
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
    bounds = [mix.least_buffer(point.window, point.bdp) for point in points]
    lines = [
        Line(rtts, [point.buffer for point in points], "buffer", "dots"),
        Line(rtts, bounds, "least by inequality 10", "dashes"),
    ]
    return judge(
        "D.fig12",
        "Paper D, Figure 12: buffers against inequality 10",
        HERE,
        {
            f"spare-{point.rtt_ms}": point.buffer - bound
            for point, bound in zip(points, bounds, strict=True)
        },
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )
