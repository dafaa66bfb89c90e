"""Size a link whose number of flows is only known as a range: the buffer serves both ends.

As long as one law governs, the buffer that it requires rises or falls with the number of flows, so
its extremes are at the ends of the range. A simulation also runs at the ends. The buffer for
utilization falls with the flows and the buffer for loss rises, and the larger of the two is
largest at an end as well. Between the ends, a smaller buffer may be enough, but never a larger
one necessary.

The rule is the same for every strategy: each end has an answer of its own, and a run at the end
that needs less verifies the larger one there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.outcome import FlowsEnd, Interval, LossWarning, Relaxation, SizeResult, Verdict
from forebay.progress import part
from forebay.search.acceptable_loss import loss_warning
from forebay.search.evaluations import Evaluations
from forebay.search.relaxation import given_at, holds
from forebay.search.result import buffer_of
from forebay.search.stopping import Interrupted

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Finding, Session, Strategy

_SHARE = 0.46
"""Share of the time for each end; the rest is for the runs that verify the answer."""


def serve_both(problem: Problem, strategy: Strategy, session: Session) -> tuple[SizeResult, float]:
    """Return the smallest buffer that serves both ends, and the predicted seconds.

    ``buffer`` is None if one end has no answer, or if no buffer serves both.

    Raises
    ------
    Interrupted
        The result of one end is no answer for both; the reason names that end.
    """
    share_s = _SHARE * session.time.left_s
    findings = [
        _answered(end, strategy, _part(session, index).for_seconds(share_s))
        for index, end in enumerate(problem.ends())
    ]
    predicted_s = sum(finding.predicted_s for finding in findings)
    return _Ends(findings, session).shared(), predicted_s


def _part(session: Session, index: int) -> Session:
    """Return the session of one end."""
    return session.with_progress(part(session.options.progress, index, 2))


def _answered(end: Problem, strategy: Strategy, session: Session) -> Finding:
    """Answer one end; the reason of an interrupted answer names that end."""
    try:
        return strategy.answer(end, session)
    except Interrupted as stop:
        reason = f"with {end.scenario.n_flows} flows: {stop.result.reason}"
        raise Interrupted(stop.result.model_copy(update={"reason": reason})) from None


@dataclass(frozen=True, slots=True)
class _Ends:
    """What was found at both ends; sizes can still be evaluated there within the session."""

    findings: Sequence[Finding]
    session: Session

    @property
    def results(self) -> list[SizeResult]:
        return [finding.result for finding in self.findings]

    @property
    def described(self) -> tuple[FlowsEnd, ...]:
        """The ends in the form of the result."""
        return tuple(
            FlowsEnd(
                flows=each.problem.scenario.n_flows,
                buffer=each.result.buffer,
                region=each.result.region,
                reason=each.result.reason,
            )
            for each in self.findings
        )

    def shared(self) -> SizeResult:
        """Return the result that serves both ends."""
        results = self.results
        lacking = [i for i, result in enumerate(results) if result.buffer is None]
        if lacking:
            return self._lacking(lacking[0])
        more = max(range(2), key=lambda i: results[i].chosen or 0)
        common = intersection(results[0].region, results[1].region)
        return self._together(common, more) if common else self._apart(more)

    def _lacking(self, at: int) -> SizeResult:
        """Return the result of an end without an answer, relaxed for both ends."""
        ends, result = self.described, self.results[at]
        changed = {
            "reason": f"with {ends[at].flows} flows: {result.reason}",
            "ends": ends,
            "relaxations": self._relaxations(),
        }
        return result.model_copy(update=changed)

    def _together(self, common: tuple[Interval, ...], more: int) -> SizeResult:
        """Return the smallest common size, verified by a run at the end that needs less."""
        answer, packets = self.results[more], common[0].low
        there = self._evaluated(1 - more, packets)
        if there is not None and there.verdict(there.goals) is Verdict.MISSED:
            return self._apart(more)
        buffer, ends = answer.buffer, self.described
        if buffer is None or buffer.packets != packets:  # the common sizes begin further up
            buffer = buffer_of(self.findings[more].problem.scenario, packets, packets)
        changed = {"buffer": buffer, "region": common, "largest": common[0].high, "ends": ends}
        if there is None:
            unsure = (
                f"no time was left to verify {packets} packets with {ends[1 - more].flows} flows"
            )
            changed["notes"] = (*answer.notes, unsure)
        elif (warning := self._warning(more, there)) is not None:
            changed["loss_warning"] = warning
        return answer.model_copy(update=changed)

    def _warning(self, more: int, there: Evaluation) -> LossWarning | None:
        """Return the warning of the end that loses more at the common size."""
        own, end = self.results[more].loss_warning, self.findings[1 - more].problem
        alone = Evaluations(end.goals, end.engine)
        alone.done[there.packets] = there
        other = loss_warning(end.scenario, alone, there)
        both = [each for each in (own, other) if each is not None]
        return max(both, key=lambda each: each.loss, default=None)

    def _apart(self, more: int) -> SizeResult:
        """Return that no buffer serves both, and the relaxations with which one would."""
        needs, ends = self.results[more], self.described
        packets = 1 if needs.buffer is None else needs.buffer.packets
        there = self._evaluated(1 - more, packets)
        what = "their goals" if there is None else _goals_not_met(there)
        reason = (
            f"{ends[more].flows} flows need {packets} packets, where {ends[1 - more].flows} flows "
            f"miss {what}; no buffer serves the whole range"
        )
        given = [] if there is None else [given_at(goal, there) for goal in there.goals]
        changed = {
            "buffer": None,
            "nearest": packets,
            "reason": reason,
            "region": (),
            "largest": None,
            "ends": ends,
            "relaxations": tuple(each for each in given if there and holds(each, there)),
        }
        return needs.model_copy(update=changed)

    def _relaxations(self) -> tuple[Relaxation, ...]:
        """Return each goal's relaxation that holds at both ends; without target if none does."""
        both = [result.relaxations for result in self.results if result.relaxations]
        found = []
        for each in zip(*both, strict=True):
            own = [relaxation.packets for relaxation in each if relaxation.packets]
            sizes = dict.fromkeys([*own, *self._sizes_without(each[0].name)])
            helps = (r for packets in sizes if (r := self._given(each[0].name, packets)))
            none = each[0].model_copy(update={"relaxed": None, "packets": None, "reached": None})
            found.append(next(helps, none))
        return tuple(found)

    def _sizes_without(self, name: str) -> list[int]:
        """Return the ends of the sizes that meet all goals but one at both ends, by the curves."""
        spans = []
        for result in self.results:
            fits = [point.packets for point in result.curve if set(point.unmet) <= {name}]
            if not fits:
                return []
            spans.append((min(fits), max(fits)))
        low, high = max(low for low, _ in spans), min(high for _, high in spans)
        return [low, high] if low <= high else []

    def _given(self, name: str, packets: int) -> Relaxation | None:
        """Return a goal's relaxation with which a size meets all goals at both ends."""
        both = [self._evaluated(index, packets) for index in range(2)]
        there = [each for each in both if each is not None]
        given = [
            given_at(goal, each) for each in there for goal in each.goals if goal.kind.name == name
        ]
        if len(there) < 2 or any(each.relaxed is None for each in given):
            return None
        sign = 1.0 if given[0].sense == "at most" else -1.0
        weakest = max(given, key=lambda each: sign * (each.relaxed or 0.0))
        return weakest if all(holds(weakest, each) for each in there) else None

    def _evaluated(self, index: int, packets: int) -> Evaluation | None:
        """Return the evaluation of a size at one end; None if there is no time for a run."""
        return self.findings[index].evaluate(packets, self.session)


def _goals_not_met(there: Evaluation) -> str:
    return " and ".join(str(goal) for goal in there.not_met(there.goals))


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
