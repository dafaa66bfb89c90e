"""Figure 2: the two probabilities for which its buffers are sized, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge
from forebay.reproduction.papers.yang_2013 import mix

HERE = Path(__file__).resolve().parent
NOTES = [
    mix.NOTE,
    "W is the sum of all congestion windows in one traced replication, sampled every 20 ms, with "
    "the buffers of inequality 14.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace the mix at the three RTTs; ``quick`` 10 s."""
    watched = {
        rtt_ms: _watch(rtt_ms, quick, part) for rtt_ms, part in each_with(progress, mix.RTTS_MS)
    }
    return judge(
        "yang-2013/fig2",
        "Yang et al. 2013, Figure 2: how often W fills the link, and how often it fits",
        HERE,
        {
            **{
                f"fills-{rtt}": 100 * float(np.mean(w >= bdp))
                for rtt, (w, bdp, _) in watched.items()
            },
            **{
                f"fits-{rtt}": 100 * float(np.mean(w * (1 - mix.PHI) <= bdp + buffer))
                for rtt, (w, bdp, buffer) in watched.items()
            },
        },
        notes=NOTES,
        picture=Picture([_panel(rtt, *each) for rtt, each in watched.items()], columns=3),
    )


def _watch(rtt_ms: int, quick: bool, progress: Progress | None) -> tuple[Any, float, int]:
    """W, BDP and buffer, packets."""
    sets = mix.overrides(rtt_ms, quick)
    bdp = mix.bdp_of(tuple(sets))
    buffer = mix.buffer_of(bdp, True)
    scenario = forebay.load(mix.SCENARIO, [*sets, f"queue.size={buffer} packets"])
    trace = forebay.trace(scenario, step="20 ms", progress=progress)
    return trace.window_sum_packets, bdp, buffer


def _panel(rtt_ms: int, window: Any, bdp: float, buffer: int) -> Panel:
    density, edges = np.histogram(window, bins=40, density=True)
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    top = float(density.max())
    marks = [
        Line([at, at], [0.0, top], name, "dashes")
        for at, name in ((bdp, "BDP"), (bdp + buffer, "BDP + B"))
    ]
    return Panel(
        [Line(middles, density.tolist(), "W", "bars"), *marks],
        "packets",
        "density",
        title=f"{rtt_ms} ms",
    )
