"""Figure 5: one flow through an underbuffered router."""

from __future__ import annotations

from pathlib import Path

from forebay.reproduction import Progress, Reproduction, judge
from forebay.reproduction.papers.appenzeller_2004 import one_flow

HERE = Path(__file__).resolve().parent


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace one flow."""
    numbers, picture = one_flow.watch(HERE, progress)
    del numbers["left"]  # the queue is empty here
    return judge(
        "appenzeller-2004/fig5",
        "Appenzeller et al. 2004, Figure 5: one flow, buffer half of bdp",
        HERE,
        numbers,
        picture=picture,
    )
