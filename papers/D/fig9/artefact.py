"""Figure 9 of paper D: utilization with the buffers of inequality 7."""

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
    "The paper gives no number for this figure. It calls 97.39 % high (Figure 11).",
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
    lines = [
        Line(rtts, [point.utilization.value for point in points], "ours", "dots"),
        Line(rtts, [97.0] * len(rtts), "high, by the text of Figure 11", "dashes"),
    ]
    return judge(
        "D.fig9",
        "Paper D, Figure 9: utilization with the buffers of inequality 7",
        HERE,
        {f"utilization-{point.rtt_ms}": point.utilization for point in points},
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "utilization, %")]),
    )
