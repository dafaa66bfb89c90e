"""Flows that are a range: both of its ends within one budget, and a buffer that serves them."""

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

Ask = Callable[["Scenario", "Progress | None"], tuple[SizeResult, float]]


def both_ends(scenario: Scenario, ask: Ask, progress: Progress | None) -> tuple[SizeResult, float]:
    """Return the answer that serves both ends, and the seconds expected for the two.

    ``ask`` answers one end in half of the time, and says how long it was expected to take.
    """
    each = [scenario.at_flows("low"), scenario.at_flows("high")]
    asked = [_asked(ask, end, part(progress, index, 2)) for index, end in enumerate(each)]
    results, expected_s = [result for result, _ in asked], sum(s for _, s in asked)
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


def _asked(ask: Ask, end: Scenario, progress: Progress | None) -> tuple[SizeResult, float]:
    """Answer one end; what Ctrl-C leaves of it is said to be of that end alone."""
    try:
        return ask(end, progress)
    except Interrupted as stop:
        reason = f"with {end.n_flows} flows: {stop.result.reason}"
        raise Interrupted(stop.result.model_copy(update={"reason": reason})) from None
