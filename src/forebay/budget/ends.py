"""Size a link for both ends of a range of flows within one budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forebay.outcome import FlowsEnd, SizeResult
from forebay.progress import part
from forebay.sizing import Interrupted
from forebay.sizing.ends import intersection

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.scenario import Scenario

Answer = tuple[SizeResult, float]
"""The result of one end or both, with its predicted time in seconds."""
AnswerEnd = Callable[["Scenario", "Progress | None"], Answer]


def both_ends(scenario: Scenario, answer_end: AnswerEnd, progress: Progress | None) -> Answer:
    """Return the answer that serves both ends, and the predicted seconds of the two.

    ``answer_end`` answers one end in half of the time. It also returns the predicted seconds.
    """
    each = [scenario.at_flows("low"), scenario.at_flows("high")]
    answers = [
        _answered(answer_end, end, part(progress, index, 2)) for index, end in enumerate(each)
    ]
    results, expected_s = [result for result, _ in answers], sum(s for _, s in answers)
    ends = tuple(
        FlowsEnd(flows=end.n_flows, buffer=r.buffer, region=r.region, reason=r.reason)
        for end, r in zip(each, results, strict=True)
    )
    lacking = next((i for i, end in enumerate(ends) if end.buffer is None), None)
    if lacking is not None:
        reason = f"with {ends[lacking].flows} flows: {ends[lacking].reason}"
        return results[lacking].model_copy(update={"reason": reason, "ends": ends}), expected_s
    more = max((0, 1), key=lambda i: results[i].chosen or 0)
    common = intersection(results[0].region, results[1].region)
    if not common:
        reason = f"{ends[more].flows} flows need a buffer at which {ends[1 - more].flows} miss"
        changed = {"buffer": None, "nearest": results[more].chosen, "reason": reason, "region": ()}
        return results[more].model_copy(update=changed | {"ends": ends}), expected_s
    shared = {"region": common, "largest": common[0].high, "ends": ends}
    return results[more].model_copy(update=shared), expected_s


def _answered(answer_end: AnswerEnd, end: Scenario, progress: Progress | None) -> Answer:
    """Answer one end; the reason of an interrupted answer names that end."""
    try:
        return answer_end(end, progress)
    except Interrupted as stop:
        reason = f"with {end.n_flows} flows: {stop.result.reason}"
        raise Interrupted(stop.result.model_copy(update={"reason": reason})) from None
