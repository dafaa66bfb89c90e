"""Figure 6: one flow through an overbuffered router."""

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
    return judge(
        "appenzeller-2004/fig6",
        "Appenzeller et al. 2004, Figure 6: one flow, buffer twice bdp",
        HERE,
        numbers,
        picture=picture,
    )
