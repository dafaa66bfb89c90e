"""Figure 5 of paper A: one flow through an underbuffered router."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.report import Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
one_flow: Any = beside(HERE, "one_flow")


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Watch one flow."""
    numbers, picture = one_flow.watch(HERE, progress)
    del numbers["left"]  # an empty queue leaves nothing
    return judge(
        "A.fig5", "Paper A, Figure 5: one flow, buffer half of bdp", HERE, numbers, picture=picture
    )
