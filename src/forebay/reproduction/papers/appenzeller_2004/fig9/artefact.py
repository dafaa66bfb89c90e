"""Figure 9: the sum of the windows and the queue, offset by 10,500 packets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, side_by_side
from forebay.reproduction.papers.appenzeller_2004 import readings as open_choices

HERE = Path(__file__).resolve().parent
SAYS = (
    "Of these readings only ACKs delayed by 40 ms let the queue follow the windows as the figure "
    "shows. Figure 8, of the same set-up, speaks against them: no one reading gives both."
)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace one replication; ``quick`` a third as long."""
    scenario, trace = _watch(["measure.duration=20 s"] if quick else [], progress)
    windows, queue = trace.window_sum_packets, trace.bottleneck.queue_packets
    ours = _numbers(trace)
    under = {} if quick else open_choices.under_each(126, ours, lambda s: _numbers(_watch(s)[1]))
    x = trace.at_s.tolist()
    offset = (queue + scenario.bdp_packets).tolist()
    lines = [Line(x, windows.tolist(), "ΣW"), Line(x, offset, "queue + 10,500")]
    return judge(
        "appenzeller-2004/fig9",
        "Appenzeller et al. 2004, Figure 9: the sum of the windows and the queue",
        HERE,
        ours,
        picture=Picture([Panel(lines, "s", "packets")]),
        variants=None if quick else side_by_side(HERE, under, SAYS),
    )


def _watch(
    changes: Iterable[str], progress: Progress | None = None
) -> tuple[forebay.Scenario, Any]:
    scenario = forebay.load(HERE / "scenario.toml", list(changes))
    return scenario, forebay.trace(scenario, step="10 ms", progress=progress)


def _numbers(trace: Any) -> dict[str, float]:
    windows, queue = trace.window_sum_packets, trace.bottleneck.queue_packets
    return {
        "offset": float(np.mean(windows - queue)),
        "follows": float(np.corrcoef(windows, queue)[0, 1]),
    }
