"""Keep an AQM's own target or thresholds where they meet all goals."""

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
    """Return a result that keeps what the scenario, or else the discipline, has the queue aim at.

    None if it was not shown to meet all goals: the packets next to it on both sides must.
    """
    aqm, queue = found.aqm, problem.scenario.queue
    if aqm is None:
        return None
    if aqm.parameter == "min":
        return _thresholds_kept(problem, found, buffer)
    own = queue.target is not None or queue.rtt is not None
    target_s = _own_target(queue) or DISCIPLINES[queue.discipline].default_target_s
    if target_s is None or not _meets(found, buffer, target_s / aqm.packet_s):
        return None
    packets = target_s / aqm.packet_s
    whose = "the scenario's" if own else "its default"
    why = f"{whose} target of {1e3 * target_s:g} ms meets all goals, and stays"
    if packets < 1.0:  # none below a packet is run
        why = (
            f"{whose} target of {1e3 * target_s:g} ms, which is less than a packet takes, stays: "
            f"that of a packet, {1e3 * aqm.packet_s:.3g} ms, meets all goals"
        )
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


def _meets(found: SizeResult, buffer: Buffer, packets: float) -> bool:
    """Whether the packets next to a number on both sides meet all goals."""
    around = max(math.floor(packets), 1), max(math.ceil(packets), 1)
    region = part_from(found.region, buffer.packets)
    return any(part.low <= around[0] and around[1] <= end_of(part) for part in region)


def _thresholds_kept(problem: Problem, found: SizeResult, buffer: Buffer) -> SizeResult | None:
    """Return a result that keeps RED's thresholds; those of the discipline follow from a limit."""
    queue, aqm = problem.scenario.queue, problem.parameter
    if queue.min is None or queue.max is None:
        return None
    low, high = int(queue.min), int(queue.max)
    packets = low / aqm.packet_bytes
    if aqm.is_step and high != low + 1:  # a step was tried with the least distance there is
        return None
    if not _meets(found, buffer, packets):
        return None
    why = f"the scenario's thresholds of {low} B and {high} B meet all goals, and stay"
    seconds = packets * aqm.packet_s
    made = Recommended(packets=max(round(packets), 1), bytes=low, seconds=seconds, why=(why,))
    described = aqm.describe(made.packets)
    kept = described.model_copy(update={"min_bytes": low, "max_bytes": high})
    return found.model_copy(update={"recommended": made, "aqm": kept})


def _own_target(queue: Queue) -> float | None:
    """Return the target that the scenario writes; of cake a twentieth of its rtt."""
    if queue.discipline == "cake":
        return None if queue.rtt is None else float(queue.rtt) / CAKE_TARGETS
    return None if queue.target is None else float(queue.target)
