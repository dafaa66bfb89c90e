"""Inequality 19: minimum increase of the drop rate by a smaller buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forebay
from forebay.reproduction import Progress, Reproduction, judge, shares
from forebay.reproduction.papers.yang_2013 import mix

HERE = Path(__file__).resolve().parent
NOTES = [
    mix.NOTE,
    "From the buffers of inequality 14 (D.fig11) to those of inequality 7 (D.fig9): the difference "
    "stands for B_p - Cλ; the bound is D / (BDP + B_p). The same runs as those figures'.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run the mix at the three RTTs with both buffers; ``quick`` measures 10 s."""
    parts = shares(progress, 2)
    large, small = (
        mix.points(drops=drops, seeds=seeds, jobs=jobs, progress=next(parts), quick=quick)
        for drops in (True, False)
    )
    return judge(
        "yang-2013/eq19",
        "Yang et al. 2013, inequality 19: the drop rate that a smaller buffer adds",
        HERE,
        {f"added-{a.rtt_ms}": _share(a, b) for a, b in zip(large, small, strict=True)},
        notes=NOTES,
    )


def _share(large: Any, small: Any) -> float:
    """Increase of the drop rate over the minimum of inequality 19."""
    law = forebay.laws.heterogeneous.drop_rate_added
    least = float(law(small.buffer, large.buffer, large.bdp))
    return float(small.loss.value - large.loss.value) / 100 / least
