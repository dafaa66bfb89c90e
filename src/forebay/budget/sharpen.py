"""Use the time that is left after the link's own crossing for more replications of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.budget.crossing import MOST_NEAR, again, seeds_of_crossing
from forebay.budget.timed import OutOfTime

if TYPE_CHECKING:
    from forebay.budget.ladder import Climb

_WORTH_IT = 1.5
"""Least ratio of the new number of seeds to the old: it makes the interval a fifth narrower."""


def sharpen(state: Climb, most_seeds: int) -> None:
    """Measure the whole link's crossing with up to ``most_seeds`` seeds, as many as fit.

    Its replications are known to the engine, so that only the new ones take time. If the time
    ends before, the first crossing stays.
    """
    top = state.rungs[0]
    if state.stopped or top.factor != 1.0 or top.found.reached != "inside":
        return
    seeds, curve = state.seeds, top.link
    wanted = min(_fitting(state), most_seeds)
    if wanted < _WORTH_IT * len(seeds):
        return
    curve.seeds = seeds_of_crossing(range(seeds[0], seeds[0] + wanted), state.jobs)
    try:
        top.found = again(curve, top.found, curve.limit)
    except KeyboardInterrupt as end:
        curve.seeds = seeds
        state.stopped = not isinstance(end, OutOfTime)


def _fitting(state: Climb) -> int:
    """Return the number of seeds that fit: of the buffers near the crossing, then of the answer."""
    top, seeds = state.rungs[0], len(state.seeds)
    looks = len(top.found.looks)
    replication_s = max(top.took_s, 1e-9) / (looks * seeds)
    near = min(looks, MOST_NEAR)
    return int((state.left_s / replication_s + near * seeds) / (near + 1))
