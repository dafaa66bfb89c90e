"""Size a link whose number of flows is only known as a range: the buffer serves both ends.

As long as one law governs, the buffer that it requires rises or falls with the number of flows, so
its extremes are at the ends of the range. A simulation also runs at the ends. The buffer for
utilization falls with the flows and the buffer for loss rises, and the larger of the two is
largest at an end as well. Between the ends, a smaller buffer may be enough, but never a larger
one necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forebay.outcome import FlowsEnd, Interval, Relaxation, SizeResult, Verdict
from forebay.progress import part
from forebay.sizing.assemble import buffer_of
from forebay.sizing.question import Question
from forebay.sizing.relax import given_at, holds

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.scenario import Scenario

QuestionOf = Callable[["Scenario", "Progress | None"], Question]
Answer = Callable[[Question], SizeResult]


def serve_both(
    scenario: Scenario, question_of: QuestionOf, answer: Answer, progress: Progress | None
) -> SizeResult:
    """Size at both ends of the range; the answer is the smallest buffer that serves both.

    A run at the end that needs less verifies it. ``buffer`` is None if one end has no answer,
    or if no buffer serves both.
    """
    questions = [
        question_of(scenario.at_flows("low"), part(progress, 0, 2)),
        question_of(scenario.at_flows("high"), part(progress, 1, 2)),
    ]
    results = [answer(question) for question in questions]
    ends = tuple(_end(q, r) for q, r in zip(questions, results, strict=True))
    lacking = [i for i, result in enumerate(results) if result.buffer is None]
    if lacking:
        at = lacking[0]
        reason = f"with {ends[at].flows} flows: {results[at].reason}"
        shared = _shared(questions, results)
        return results[at].model_copy(
            update={"reason": reason, "ends": ends, "relaxations": shared}
        )
    common = intersection(results[0].region, results[1].region)
    more = max(range(2), key=lambda i: results[i].buffer.packets)  # type: ignore[union-attr]
    if not common:
        return _apart(questions, results, ends, more)
    return _together(questions, results, ends, common, more)


def intersection(first: Sequence[Interval], second: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the sizes in both regions; each end has the goals that bind there."""
    shared = []
    for a in first:
        for b in second:
            low = max((a, b), key=lambda i: i.low)
            high = min((a, b), key=_top)
            if low.low <= _top(high):
                shared.append(
                    Interval(
                        low=low.low,
                        high=high.high,
                        binding_low=low.binding_low,
                        binding_high=high.binding_high,
                    )
                )
    return tuple(sorted(shared, key=lambda i: i.low))


def _top(interval: Interval) -> float:
    return float("inf") if interval.high is None else interval.high


def _together(
    questions: Sequence[Question],
    results: Sequence[SizeResult],
    ends: tuple[FlowsEnd, ...],
    common: tuple[Interval, ...],
    more: int,
) -> SizeResult:
    answer, packets = results[more], common[0].low
    there = questions[1 - more].trials.settle(packets, questions[1 - more].trials.goals)
    if there.verdict(there.goals) is Verdict.MISSED:
        return _apart(questions, results, ends, more)
    buffer = answer.buffer
    if buffer is None or buffer.packets != packets:  # the common sizes begin further up
        buffer = buffer_of(questions[more].scenario, packets, packets)
    changed = {"buffer": buffer, "region": common, "largest": common[0].high, "ends": ends}
    return answer.model_copy(update=changed)


def _shared(questions: Sequence[Question], results: Sequence[SizeResult]) -> tuple[Relaxation, ...]:
    """Return each goal's relaxation that holds at both ends; its target is None if none does."""
    both = [result.relaxations for result in results if result.relaxations]
    found = []
    for each in zip(*both, strict=True):
        helps = (r for r in each if r.packets and all(_holds(q, r, r.packets) for q in questions))
        none = each[0].model_copy(update={"relaxed": None, "packets": None, "reached": None})
        found.append(next(helps, none))
    return tuple(found)


def _holds(question: Question, relaxation: Relaxation, packets: int) -> bool:
    return holds(relaxation, question.trials.settle(packets, question.trials.goals))


def _apart(
    questions: Sequence[Question],
    results: Sequence[SizeResult],
    ends: tuple[FlowsEnd, ...],
    more: int,
) -> SizeResult:
    needs, other = results[more], questions[1 - more].trials
    packets = needs.buffer.packets if needs.buffer is not None else 1
    there = other.settle(packets, other.goals)
    missed = [str(g) for g in there.goals if g.judge(there.metric(g)) is not Verdict.MET]
    reason = (
        f"{ends[more].flows} flows need {packets} packets, where {ends[1 - more].flows} flows "
        f"miss {' and '.join(missed)}; no buffer serves the whole range"
    )
    given = [given_at(goal, there) for goal in there.goals]
    changed = {
        "buffer": None,
        "nearest": packets,
        "reason": reason,
        "region": (),
        "largest": None,
        "ends": ends,
        "relaxations": tuple(relaxation for relaxation in given if holds(relaxation, there)),
    }
    return needs.model_copy(update=changed)


def _end(question: Question, result: SizeResult) -> FlowsEnd:
    flows = question.scenario.n_flows
    return FlowsEnd(flows=flows, buffer=result.buffer, region=result.region, reason=result.reason)
