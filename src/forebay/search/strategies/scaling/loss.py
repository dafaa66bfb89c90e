"""Find the buffer of acceptable loss, if there is time to search on one of the smaller links.

Loss depends on a flow's window, and so on the packets in path and buffer per flow. On a link with
k times fewer flows, the buffer is k times smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from forebay.search.acceptable_loss import GOAL, guess, is_acceptable, loss_value
from forebay.search.problem import most_by_delay
from forebay.search.sawtooths import measure_of
from forebay.search.stopping import OutOfTime
from forebay.search.strategies.crossing.crossing import find
from forebay.search.strategies.crossing.curve import LinkCurve, curve_of

if TYPE_CHECKING:
    from forebay.scenario import Measure, Scenario
    from forebay.search.evaluations import Evaluation, Evaluations
    from forebay.search.strategies.scaling.study import ScalingStudy

_MARGINS = (1.05, 1.1)
"""Multiples of the crossing's upper end to try: rounding makes the whole link slightly other."""
_MORE_RUNS = 1.5
"""Cost relative to a level's runs: the buffer may lie far from the first one tried."""


def looking(study: ScalingStudy, evaluations: Evaluations) -> Callable[[Evaluation], None] | None:
    """Return what looks for the buffer; None where no link of the study has the same loss."""
    if study.rule.shrinks_windows or study.stopped:
        return None
    return lambda there: _look(study, evaluations, loss_value(there.outcome))


def _look(study: ScalingStudy, evaluations: Evaluations, loss: float) -> None:
    """Record the buffer, found on the largest link for which there is time."""
    study.reserved_s = 0.0
    for level in study.levels:
        link = _settled(study.at(level.factor), level.link.measure)
        if _MORE_RUNS * study.predict(link, link.measure) > study.left_s:
            continue
        curve, least = curve_of(link, study.engine, study.ticking, goals=(GOAL,)), 0.0
        with suppress(OutOfTime):
            start = max(1, round(guess(link, level.found.packets, loss)))
            least = find(curve, start, curve.limit).high
            _try_above(curve, least)
            _try_within(curve, level.found.packets, most_by_delay(study.problem), level.factor)
        done = curve.evaluator.done
        enough = [b for b, each in done.items() if b >= least and is_acceptable(each.outcome)]
        first = min(enough, default=max(done, default=0))
        for packets in {first, *_within(done, most_by_delay(study.problem), level.factor)} - {0}:
            there = math.ceil(packets * level.factor)
            evaluations.record(there, study.as_whole(done[packets].outcome, level.factor, there))
        return


def _settled(link: Scenario, measured: Measure) -> Scenario:
    """Return a link that is measured no earlier, and no more briefly, than its level was."""
    measure = link.measure
    later = measure_of(
        max(float(measure.warmup), float(measured.warmup)),
        max(float(measure.duration), float(measured.duration)),
    )
    return link.model_copy(update={"measure": later})


def _try_within(curve: LinkCurve, packets: float, most: int | None, factor: float) -> None:
    """Simulate the largest buffer within the goals on the delay, and one halfway to it.

    Only if none that was simulated within them has acceptable loss.
    """
    done = curve.evaluator.done
    end = 0 if most is None else min(math.floor(most / factor), curve.limit)
    if end <= packets or any(is_acceptable(done[b].outcome) for b in done if b <= end):
        return
    for size in (end, round(math.sqrt(max(packets, 1.0) * end))):
        if size not in done:
            curve.fine(size)


def _within(done: Iterable[int], most: int | None, factor: float) -> list[int]:
    """Return the simulated buffers within the goals on the delay."""
    return [] if most is None else [b for b in done if math.ceil(b * factor) <= most]


def _try_above(curve: LinkCurve, least: float) -> None:
    """Simulate buffers slightly above the crossing until one has acceptable loss."""
    done = curve.evaluator.done
    for margin in _MARGINS:
        packets = max(1, min(math.ceil(margin * least), curve.limit))
        if packets not in done:
            curve.fine(packets)
        if is_acceptable(done[packets].outcome):
            return
