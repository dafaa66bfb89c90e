"""Keep the target of an AQM that the scenario or the discipline gives, where it meets all goals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from forebay.catalogue import DISCIPLINES
from forebay.catalogue.disciplines import CAKE_TARGETS
from forebay.outcome import Recommended
from forebay.search.recommended import end_of, part_from

if TYPE_CHECKING:
    from forebay.outcome import Buffer, SizeResult
    from forebay.scenario import Queue
    from forebay.search.problem import Problem


def default_kept(problem: Problem, found: SizeResult, buffer: Buffer) -> SizeResult | None:
    """Return a result that keeps the target of the scenario, or else of the discipline.

    None if it was not shown to meet all goals: the packets next to it on both sides must.
    """
    aqm = found.aqm
    if aqm is None or aqm.parameter != "target":
        return None
    queue = problem.scenario.queue
    own = queue.target is not None or queue.rtt is not None
    target_s = _own_target(queue) or DISCIPLINES[queue.discipline].default_target_s
    if target_s is None:
        return None
    packets = target_s / aqm.packet_s
    around = max(math.floor(packets), 1), max(math.ceil(packets), 1)
    region = part_from(found.region, buffer.packets)
    if not any(i.low <= around[0] and around[1] <= end_of(i) for i in region):
        return None
    whose = "the scenario's" if own else "its default"
    why = f"{whose} target of {1e3 * target_s:g} ms meets all goals, and stays"
    size = int(problem.scenario.packet)
    made = Recommended(
        packets=max(round(packets), 1), bytes=max(round(packets), 1) * size, seconds=target_s,
        why=(why,),
    )  # fmt: skip
    described = problem.parameter.describe(made.packets)
    timed: dict[str, object] = {"target_s": target_s}
    if aqm.discipline == "cake":
        timed["interval_s"] = CAKE_TARGETS * target_s
    return found.model_copy(update={"recommended": made, "aqm": described.model_copy(update=timed)})


def _own_target(queue: Queue) -> float | None:
    """Return the target that the scenario writes; of cake a twentieth of its rtt."""
    if queue.discipline == "cake":
        return None if queue.rtt is None else float(queue.rtt) / CAKE_TARGETS
    return None if queue.target is None else float(queue.target)
