"""Narrow an extrapolated interval by the law that governs the link.

Simulations of many links of the kind found the governing law within known factors of the buffer
that they need (`Regime.times_simulation`). That is a second interval, and both hold the answer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.search.problem import Problem
    from forebay.search.strategies.scaling.extrapolate import Carried


def band(problem: Problem) -> tuple[float, float] | None:
    """Return the packets between which the governing law places the answer.

    None if no factors are known for it, or if a goal other than the utilization needs a buffer.
    """
    context = problem.law_context
    times = getattr(context.governs, "times_simulation", None)
    names = {goal.kind.name for goal in problem.needing}
    if context.governs is None or times is None or names != {"utilization"}:
        return None
    law = next((each for each in context.laws if each.law == context.governs.law), None)
    if law is None or not law.packets:
        return None
    low, high = getattr(law, "between", None) or (law.packets, law.packets)
    return low / times[1], high / times[0]


def within_law(carried: Carried, problem: Problem) -> Carried:
    """Return an extrapolation within the law's band; itself if they have nothing in common."""
    known = band(problem)
    if known is None:
        return carried
    low, high = max(carried.low, known[0]), min(carried.high, known[1])
    if low > high:
        return carried
    packets = min(max(carried.packets, low), high)
    return replace(carried, packets=packets, low=low, high=high)


def note_of(problem: Problem, low: int, high: int) -> list[str]:
    """Return a note if the law's band is an end of the interval ``low`` to ``high``."""
    known, governs = band(problem), problem.law_context.governs
    if known is None or governs is None:
        return []
    first, last = max(1, math.floor(known[0])), math.ceil(known[1])
    if low != first and high != last:
        return []
    return [
        f"{governs.law}, which governs here, narrows the interval: by the simulations that it was "
        f"compared with, {first} to {last} packets are needed"
    ]
