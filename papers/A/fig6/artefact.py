"""Figure 6 of paper A: one flow through an overbuffered router."""

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
    return judge(
        "A.fig6", "Paper A, Figure 6: one flow, buffer twice bdp", HERE, numbers, picture=picture
    )
