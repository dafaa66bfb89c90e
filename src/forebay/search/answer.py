"""The answer of a search: assembled once, from the question and its rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forebay.outcome import (
    Buffer,
    Cost,
    CurvePoint,
    FlowsEnd,
    GoalAtPoint,
    GoalResult,
    Interval,
    Metric,
    Outcome,
    Recommended,
    Relaxation,
    Scaled,
    ScaledLink,
    SizeResult,
    Verdict,
)
from forebay.scenario import Scenario
from forebay.search.goals import USUAL_UTILIZATION, Goal, assumes_utilization
from forebay.search.level import Level
from forebay.search.network_links import link_sizes
from forebay.search.problem import Problem
from forebay.search.recommended import Chosen, price
from forebay.search.remarks import remarks
from forebay.search.rows import Row, least, region, row_below
from forebay.words import Fact

_DIGITS = 4


@dataclass(frozen=True)
class Ended:
    """How a search ended: what it has.

    Attributes
    ----------
    level : the largest link whose rows carry an answer; None if nothing was run.
    levels : all links that were simulated, the largest first.
    chosen : what the rule chose there; None if no size meets the goals, or the time ended before.
    complete : whether no further size would have told more.
    interrupted : whether Ctrl-C ended it.
    other_hosts : the row of the least with hosts that send one packet at a time.
    """

    level: Level | None
    levels: tuple[Level, ...] = ()
    chosen: Chosen | None = None
    complete: bool = False
    interrupted: bool = False
    other_hosts: Row | None = None
    notes: tuple[Fact | str, ...] = ()
    cost: Cost | None = None


def answer(problem: Problem, ended: Ended, seeds: Sequence[int]) -> SizeResult:
    """Return the result of a question, from what was run.

    Parameters
    ----------
    seeds : those that were asked for.
    """
    level, chosen = ended.level, ended.chosen
    rows = [] if level is None else level.rows
    tried = [] if level is None else level.tried
    smallest = least(rows) if chosen is None else chosen.least
    there = smallest or _nearest(rows)
    none = None
    if smallest is None and not ended.interrupted:
        none = _why_none(problem, rows, ended.complete)
    if problem.sizes and smallest is not None and chosen is None and ended.complete:
        none = Fact("reason.none-of-sizes")
    reason = Fact("reason.stopped", sizes=len(tried)) if ended.interrupted else None
    if chosen is None and reason is None:
        reason = none or _why_open(problem, rows, ended)
    if chosen is None and problem.overload is not None:
        reason = Fact("reason.overloaded", overload=problem.overload, reason=reason)
    context, network, intervals = problem.law_context, problem.network, _region(rows, problem.limit)
    curve = tuple(_point(row) for row in tried)
    here = there if chosen is None else chosen.row
    measured = None if here is None else here.outcome
    said = remarks(problem.asked, seeds, measured if network is None else None)
    if assumes_utilization(problem.scenario):
        goal = Fact("assumed.goal", percent=100 * USUAL_UTILIZATION)
        said["assumptions"] = (goal, *said["assumptions"])
    guard = problem.parameter.guard_packets
    return SizeResult(
        scenario=problem.scenario.name,
        asked=problem.asked.to_dict(defaults=False),
        engine=problem.engine,
        buffer=None if smallest is None or chosen is None else _least(problem, level, smallest),
        recommended=None if chosen is None else _recommended(problem, chosen),
        price=() if chosen is None else price(tried, chosen.row, problem.limit),
        goals=_goals(rows, chosen, there),
        laws=context.results,
        curve=curve,
        nearest=there.packets if there is not None and chosen is None else None,
        largest=intervals[0].high if intervals else None,
        limit=problem.limit,
        reason=reason,
        notes=_notes(problem, ended, measured),
        region=intervals if chosen is not None else (),
        relaxations=tuple(_relaxed(goal, rows) for goal in rows[0].goals) if none and rows else (),
        governs=context.regime,
        ends=_ends(problem, rows),
        interrupted=ended.interrupted,
        undecided=chosen is None and none is None,
        of=problem.of,
        of_value=""
        if chosen is None or not problem.of
        else str(problem.parameter.value(problem.scenario, chosen.packets)),
        aqm=None if guard is None or here is None else problem.parameter.describe(here.packets),
        scaled=_scaled(ended, chosen),
        cost=ended.cost,
        without_offload=None if ended.other_hosts is None else _point(ended.other_hosts),
        links=link_sizes(curve, () if network is None else network.names, problem.goals),
        **said,
    )


def _notes(problem: Problem, ended: Ended, measured: Outcome | None) -> tuple[Fact | str, ...]:
    """Return the notes on the runs; of a network with its links, and what its engine leaves out."""
    if problem.network is None:
        return ended.notes
    broken = () if measured is None else measured.broken_assumptions
    return (problem.network.description, *ended.notes, *dict.fromkeys(broken))


def _least(problem: Problem, level: Level | None, smallest: Row) -> Buffer:
    """Return the least that was shown to meet the goals, with its interval."""
    assert level is not None, "a row is of a level"
    under = [row for row in level.rows if row.packets < smallest.packets]
    missed = [row.packets for row in under if row.verdict() is Verdict.MISSED]
    low, _ = level.whole_ends(max(missed) + 1 if missed else 1)
    _, high = level.whole_ends(smallest.packets)
    return buffer_of(problem.scenario, min(low, smallest.packets), smallest.packets, high)


def buffer_of(scenario: Scenario, low: int, packets: int, high: int) -> Buffer:
    """Return a size in packets, bytes and seconds, with its interval in packets."""
    octets = packets * int(scenario.packet)
    seconds = octets * 8 / float(scenario.link.capacity)
    return Buffer(packets=packets, bytes=octets, seconds=seconds, low=low, high=high)


def _recommended(problem: Problem, chosen: Chosen) -> Recommended:
    sized = buffer_of(problem.scenario, 1, chosen.packets, chosen.packets)
    steps = [_STEPS[chosen.step - 1]]
    if problem.sizes and chosen.packets != chosen.least.packets:
        steps = [*(steps if chosen.step > 1 else ()), "step.configurable"]
    why = (*filter(None, (problem.overload,)), *map(Fact, steps))
    return Recommended(
        packets=sized.packets, bytes=sized.bytes, seconds=sized.seconds,
        step=chosen.step, why=why, floor=chosen.floor,
    )  # fmt: skip


_STEPS = ("step.least", "step.two-bursts", "step.square-root", "step.most")


def _goals(rows: Sequence[Row], chosen: Chosen | None, there: Row | None) -> tuple[GoalResult, ...]:
    """Return each goal at the recommended size, or at the nearest to the goals."""
    here = there if chosen is None else chosen.row
    if here is None:
        return ()
    binding = _binding(rows, there) if chosen is not None else here.not_met()
    return tuple(
        GoalResult(
            name=goal.kind.name, sense=goal.kind.sense, direction=goal.kind.direction,
            unit=goal.kind.unit, target=goal.target, reached=here.metric(goal),
            verdict=goal.judge(here.metric(goal)), binding=goal in binding, title=goal.kind.title,
        )
        for goal in here.goals
    )  # fmt: skip


def _binding(rows: Sequence[Row], there: Row | None) -> tuple[Goal, ...]:
    """Return the goals that the next smaller size is not shown to meet."""
    if there is None:
        return ()
    below = row_below(rows, there)
    needing = [goal for goal in there.goals if goal.kind.direction != "decreasing"]
    return () if below is None else below.not_met(needing)


def _point(of: Row) -> CurvePoint:
    return CurvePoint(
        packets=of.packets,
        seeds=of.seeds,
        verdict=of.verdict(),
        goals=tuple(
            GoalAtPoint(name=g.kind.name, reached=of.metric(g), verdict=g.judge(of.metric(g)))
            for g in of.goals
        ),
        outcome=of.outcome,
    )


def _nearest(rows: Sequence[Row]) -> Row | None:
    return min(rows, key=lambda row: (row.excess(), row.packets), default=None)


def _region(rows: Sequence[Row], limit: int) -> tuple[Interval, ...]:
    """Return the sizes run that meet all goals, from the least to the largest."""
    part = region(rows)
    if not part:
        return ()
    first, last = part[0], part[-1]
    below = row_below(rows, first)
    over = [row for row in rows if row.packets > last.packets]
    above = over[0].not_met() if over else ()
    ends = any(goal.kind.direction != "increasing" for goal in last.goals)
    return (
        Interval(
            low=first.packets,
            high=last.packets if over or (last.packets < limit and ends) else None,
            binding_low=tuple(g.kind.name for g in (below.not_met() if below else ())),
            binding_high=tuple(goal.kind.name for goal in above),
        ),
    )


def _ends(problem: Problem, rows: Sequence[Row]) -> tuple[FlowsEnd, ...]:
    """Return the answer at each end of a range of flows, from the same runs."""
    scenario = problem.scenario
    if not scenario.flows_uncertain:
        return ()
    ends = []
    for index, flows in enumerate(end.n_flows for end in problem.ends()):
        own = [Row.of(r.packets, [r.outcomes[index]], r.goals, problem.engine) for r in rows]
        first = least(own)
        sized = None if first is None else first.packets
        buffer = None if sized is None else buffer_of(scenario, sized, sized, sized)
        why = None if sized is not None else _why_none(problem, own, complete=True)
        ends.append(
            FlowsEnd(flows=flows, buffer=buffer, region=_region(own, problem.limit), reason=why)
        )
    return tuple(ends)


def _scaled(ended: Ended, chosen: Chosen | None) -> Scaled | None:
    """Return which smaller links stand for this one; None if it was run itself."""
    level = ended.level
    if level is None or level.factor == 1.0:
        return None
    n, error = len(level.options.seeds), None
    if chosen is not None:
        packets, n = chosen.least.packets, chosen.row.seeds
        low, high = (end / packets - 1 for end in level.whole_ends(packets))
        error = Metric(value=0.0, low=low, high=high, n=n)
    of = level.of
    return Scaled(
        factor=level.factor, error=error, links=tuple(_link(link) for link in ended.levels),
        exponent=Metric(value=of.value, low=of.low, high=of.high, n=n),
        flows_share=level.rule.share,
    )  # fmt: skip


def _link(level: Level) -> ScaledLink:
    link, crossing = level.links[0], level.crossing()
    packets = None
    if crossing is not None:
        at, half = math.exp(crossing.log), math.exp(2.0 * crossing.sd)
        n = len(level.options.seeds)
        packets = Metric(value=at, low=at / half, high=at * half, n=n)
    return ScaledLink(
        factor=level.factor,
        rate_bps=float(link.link.capacity),
        flows=link.n_flows,
        window_packets=link.bdp_packets / link.n_flows if link.n_flows else None,
        packets=packets,
    )


_FAR, _SPAN, _FEW = 0.7, 16.0, 4
"""Log of the excess of a goal that is out of reach; the span of the sizes that show it, and their
least number."""


def missed_by_far(rows: Sequence[Row]) -> Goal | None:
    """Return a goal that sizes far apart all miss by a factor of two or more; None without one."""
    if len(rows) < _FEW or rows[-1].packets < _SPAN * rows[0].packets:
        return None
    for goal in rows[0].goals:
        if all(goal.log_normalized_excess(row.metric(goal), 1.0)[0] > _FAR for row in rows):
            return goal
    return None


def none_meets(rows: Sequence[Row], *, complete: bool) -> bool:
    """Whether the rows show that no size meets the goals.

    A goal is missed at every row of a whole curve, or by far; or one size misses a goal that needs
    more and one that needs less; or all was run and everything misses.
    """
    if not rows:
        return False
    always = any(all(goal in row.missed() for row in rows) for goal in rows[0].goals)
    if (always and complete) or missed_by_far(rows) is not None:
        return True
    if any(row.missed("increasing") and row.missed("decreasing") for row in rows):
        return True
    return complete and all(row.missed() for row in rows)


def _why_none(problem: Problem, rows: Sequence[Row], complete: bool) -> Fact | None:
    """Return why no size meets the goals; None unless the rows show it."""
    if not none_meets(rows, complete=complete):
        return None
    for goal in rows[0].goals:
        if all(goal in row.missed() for row in rows):
            best = min(rows, key=lambda row: goal.normalized_excess(row.metric(goal)))
            first, last = rows[0].packets, rows[-1].packets
            return Fact(
                "reason.missed", goal=goal, first=first, last=last, packets=best.packets,
                best=goal.says(best.metric(goal)), memory=memory_binds(problem.scenario, last),
            )  # fmt: skip
    there = _nearest(rows)
    assert there is not None, "there are rows"
    return Fact("reason.contradict", there=_with(there))


def memory_binds(scenario: Scenario, packets: int) -> Fact | str:
    """Say that a shared memory gives a queue less than a size, or "".

    A queue alone may hold alpha times what it leaves free (Choudhury and Hahne 1998), which is
    alpha / (1 + alpha) of the memory; beside others it has less.
    """
    alpha, memory = scenario.queue.alpha, scenario.memory
    if alpha is None or memory is None:
        return ""
    most = alpha / (1.0 + alpha) * float(memory) / int(scenario.packet)
    return "" if most >= packets else Fact("reason.memory", alpha=alpha, most=most)


def _why_open(problem: Problem, rows: Sequence[Row], ended: Ended) -> Fact:
    """Return what was seen where the evidence decides nothing."""
    if not rows:
        return Fact("reason.no-run-fits")
    there = _nearest(rows)
    assert there is not None, "there are rows"
    if problem.sizes and there.meets:
        return Fact("reason.no-size-run")
    memory = memory_binds(problem.scenario, rows[-1].packets)
    return Fact("reason.undecided", there=_with(there), memory=memory)


def _with(there: Row) -> Fact:
    """Return what a size does to the goals that it is not shown to meet."""
    goals = there.not_met() or there.goals
    results = " and ".join(
        f"{goal.kind.title} is {goal.says(there.metric(goal))} "
        f"for {goal.kind.sense} {goal.show(goal.target)}"
        for goal in goals
    )
    return Fact("reason.with", packets=there.packets, results=results)


def _relaxed(goal: Goal, rows: Sequence[Row]) -> Relaxation:
    """Return the target of a goal that a size run meets while it meets all others."""
    others = [other for other in rows[0].goals if other is not goal]
    able = [row for row in rows if row.verdict(others) is Verdict.MET]
    best = min(able, key=lambda of: goal.normalized_excess(of.metric(goal)), default=None)
    target = None if best is None else _outward(goal, best.metric(goal))
    if best is not None and target is not None:
        met = replace(goal, target=target).judge(best.metric(goal)) is Verdict.MET
        best, target = (best, target) if met else (None, None)
    return Relaxation(
        name=goal.kind.name, title=goal.kind.title, sense=goal.kind.sense, unit=goal.kind.unit,
        target=goal.target, relaxed=target, packets=None if best is None else best.packets,
        reached=None if best is None else best.metric(goal),
    )  # fmt: skip


def _outward(goal: Goal, metric: Metric) -> float:
    """Return the safe end of the value, rounded away from the target to four digits."""
    if goal.kind.sense == "at most":
        safe = metric.value if metric.high is None else metric.high
        return max(safe, _up(safe))
    safe = metric.value if metric.low is None else metric.low
    return min(safe, -_up(-safe) if goal.kind.unit else round(1.0 - _up(1.0 - safe), 12))


def _up(value: float) -> float:
    """Return the next four-digit number not below ``value``, up to rounding errors."""
    if value == 0.0:
        return 0.0
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    return round(math.ceil(value * 10.0**decimals - 1e-9) / 10.0**decimals, max(decimals, 0))
