"""Assemble the result from the trials, in numbers and in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import argument
from forebay.outcome import (
    LINK,
    Aqm,
    Buffer,
    CurvePoint,
    GoalAtPoint,
    GoalResult,
    Interval,
    LossWarning,
    Relaxation,
    SizeResult,
    Verdict,
)
from forebay.sizing.bracket import Bracket
from forebay.sizing.goals import Goal
from forebay.sizing.knob import notes_of
from forebay.sizing.question import Question, Trial, Trials, dropped
from forebay.sizing.usable import loss_warning

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome
    from forebay.scenario import Scenario


def found(
    question: Question,
    region: Sequence[Interval],
    low: int,
    there: Trial,
    *,
    look: bool = True,
) -> SizeResult:
    """Return the result with the answer ``there``; sizes from ``low`` on are undecided.

    Without ``look`` nothing more is run, and the undecided sizes were not tried.
    """
    buffer = buffer_of(question.scenario, low, there.packets)
    binding = question.not_met_below(there.packets)
    warning = loss_warning(question, there, look=look)
    notes = width(question.trials, buffer.low, buffer.high) if look else ()
    return result_of(
        question,
        there,
        binding,
        warning=warning,
        buffer=buffer,
        region=region,
        notes=(*notes, *several(region), *_remarks(question, there)),
    )


def none(
    question: Question,
    reason: str,
    against: Sequence[Goal] = (),
    relaxations: Sequence[Relaxation] = (),
) -> SizeResult:
    """Return the result without an answer; the goals in ``against`` are marked binding."""
    tried = question.trials.done.values()
    nearest = min(tried, key=lambda t: (t.excess(), t.packets), default=None)
    return result_of(question, nearest, against, reason=reason, relaxations=relaxations)


def buffer_of(scenario: Scenario, low: int, packets: int) -> Buffer:
    """Return a size in packets, bytes and seconds; every size below ``low`` was shown to miss."""
    octets = packets * int(scenario.packet)
    seconds = octets * 8 / float(scenario.link.capacity)
    return Buffer(packets=packets, bytes=octets, seconds=seconds, low=low, high=packets)


def _remarks(question: Question, there: Trial) -> list[str]:
    notes = [
        f"{goal} is undecided at {there.packets} packets; more seeds can decide it"
        for goal in question.down
        if goal.judge(there.metric(goal)) is Verdict.UNDECIDED
    ]
    notes += notes_of(question.scenario, question.engine, question.trials.knob)
    if not question.up and not question.either:
        notes.append("there are only delay goals, and the smallest buffer meets them best")
    reference = question.trials.unlimited
    if reference is not None:
        notes.append(unlimited(question.trials.unlimited_packets, dropped(reference)))
    return notes


def result_of(
    question: Question,
    there: Trial | None,
    binding: Sequence[Goal],
    *,
    buffer: Buffer | None = None,
    region: Sequence[Interval] = (),
    reason: str | None = None,
    relaxations: Sequence[Relaxation] = (),
    warning: LossWarning | None = None,
    notes: Sequence[str] = (),
) -> SizeResult:
    """Return the result; ``there`` is the answer or the nearest miss."""
    return SizeResult(
        scenario=question.scenario.name,
        engine=question.engine,
        buffer=buffer,
        goals=_goal_results(there, binding) if there is not None else (),
        laws=question.laws,
        curve=_curve(question.trials),
        nearest=there.packets if there is not None and buffer is None else None,
        largest=region[0].high if region else None,
        limit=question.limit,
        reason=reason,
        notes=tuple(notes),
        region=tuple(region),
        relaxations=tuple(relaxations),
        governs=question.governs,
        evidence=evidence(question.engine, there) if there is not None else (),
        loss_warning=warning,
        aqm=_aqm(question, there, buffer),
    )


def _aqm(question: Question, there: Trial | None, buffer: Buffer | None) -> Aqm | None:
    """Return the configuration if an AQM's target was sized; None otherwise."""
    knob = question.trials.knob
    if knob.guard_packets is None or there is None:
        return None
    return knob.describe(there.packets if buffer is None else buffer.packets)


def _goal_results(there: Trial, binding: Sequence[Goal]) -> tuple[GoalResult, ...]:
    return tuple(
        GoalResult(
            name=goal.kind.name,
            sense=goal.kind.sense,
            pushes=goal.kind.pushes,
            unit=goal.kind.unit,
            target=goal.target,
            reached=there.metric(goal),
            verdict=goal.judge(there.metric(goal)),
            binding=goal in binding,
            title=goal.kind.title,
        )
        for goal in there.goals
    )


def _at_point(goal: Goal, trial: Trial) -> GoalAtPoint:
    metric = trial.metric(goal)
    return GoalAtPoint(name=goal.kind.name, reached=metric, verdict=goal.judge(metric))


def _curve(trials: Trials) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(
            packets=packets,
            seeds=trial.seeds,
            verdict=trial.verdict(trials.goals),
            goals=tuple(_at_point(goal, trial) for goal in trials.goals),
            outcome=trial.outcome,
        )
        for packets, trial in sorted(trials.done.items())
    )


_MOST_SHARES = 8


def width(trials: Trials, low: int, high: int) -> list[str]:
    """Return a note on the range of the answer, if it is not a single size."""
    if low == high:
        return []
    if _by_a_law(trials.at(high)):
        return [f"between {low} and {high} packets: the law is not more exact than that"]
    seeds = max(trial.seeds for trial in trials.done.values())
    many = "1 seed does" if seeds == 1 else f"{seeds} seeds do"
    said = f"between {low} and {high} packets; {many} not tell these apart"
    return [f"{said}; more seeds narrow the range"]


def interrupted(found: SizeResult, by: str) -> SizeResult:
    """Return a stopped sizing's result: its estimate is in the reason, and is no answer.

    ``by`` says what gives the estimate, such as "the links simulated so far give".
    """
    parts, buffer = ["stopped"], found.buffer
    if buffer is not None:
        parts.append(f"{by} {buffer.packets} packets ({buffer.low} to {buffer.high})")
    reason = "; ".join([*parts, started_again()])
    missing = {"buffer": None, "nearest": found.chosen, "region": (), "loss_warning": None}
    return found.model_copy(update={**missing, "reason": reason, "interrupted": True})


def started_again() -> str:
    """Return a note on what a new start reuses from a stopped sizing."""
    return f"a new start reuses only what is in {argument('store')}"


def several(region: Sequence[Interval]) -> list[str]:
    """Return a note if the buffers that meet the goals form several intervals."""
    if len(region) < 2:
        return []
    spans = ", ".join(f"{i.low} to {'the limit' if i.high is None else i.high}" for i in region)
    return [f"the goals are met in {len(region)} separate ranges: {spans} packets"]


def unlimited(packets: int, lost: float) -> str:
    """Return a note on the reference for completion times."""
    if not lost:
        return f"completion times are compared with {packets} packets, where nothing is dropped"
    return f"completion times are compared with {packets} packets, where {lost:.2g} is still lost"


def evidence(engine: str, there: Trial) -> tuple[str, ...]:
    """Describe the congestion that an engine measured; it may contradict the governing law."""
    link = there.outcome.links[LINK]
    used, lost = link.utilization, link.loss_rate
    if used is None or lost is None or not lost.n:  # a law's own value is not evidence
        return ()
    where = f"{engine}, with {_packets(there)}"
    if not lost.value:
        return (f"{where}: nothing was dropped, so the buffer was never full",)
    loss = f"{where}: {100 * used.value:.2f} % used, {100 * lost.value:.2g} % dropped"
    seen = f"{loss}: the queue overflows, so the link is congested"
    return (seen, *_queue(link), *_shares(there))


def _queue(link: LinkOutcome) -> tuple[str, ...]:
    """Describe the queue; without a law it is the only evidence."""
    parts = link.queue_packets
    if parts is None or parts.mean is None or parts.p50 is None or parts.p99 is None:
        return ()
    mean, middle, high = (each.value for each in (parts.mean, parts.p50, parts.p99))
    return (
        f"the queue held {_round(mean)} packets on average, at most {_round(middle)} for half "
        f"of the time, and at most {_round(high)} for 99 % of it",
    )


def _round(packets: float) -> str:
    return f"{packets:.0f}" if packets >= 100 else f"{packets:.3g}"


def _shares(there: Trial) -> tuple[str, ...]:
    """Return each class's share of the link, if there are several."""
    classes = there.outcome.classes
    got = [0.0 if c.throughput_bps is None else c.throughput_bps.value for c in classes]
    if len(got) < 2 or len(got) > _MOST_SHARES or not sum(got):
        return ()
    parts = (f"traffic.{i} {100 * bits / sum(got):.3g} %" for i, bits in enumerate(got))
    return (f"of what was sent, {', '.join(parts)}",)


def nowhere(trials: Trials, either: Sequence[Goal], low: int, high: int) -> str:
    """Report goals without a fixed direction that no size allowed by the other goals meets."""
    inside = [trial for packets, trial in trials.done.items() if low <= packets <= high]
    there = min(inside, key=lambda t: max(g.excess(t.metric(g)) for g in either))
    range_ = f"from {low} to {high} packets"
    missed = all(trial.verdict(either) is Verdict.MISSED for trial in inside)
    met = "is not met at any size" if missed else "is not certain to be met at any size"
    return f"{_list(either)} {met} {range_}; nearest with {_packets(there)}, where " + (
        _values(either, there)
    )


def unreachable(trials: Trials, goals: Sequence[Goal], limit: int) -> str:
    """Report the goals that the largest buffer does not meet, and its values."""
    there = trials.done[max(trials.done)]
    short = [g for g in goals if g.judge(there.metric(g)) is not Verdict.MET]
    if not short:  # met at the limit, but no size meets them with all larger ones
        return f"no buffer up to {limit} packets meets {_list(goals)} together with all larger ones"
    lines = (_shortfall(goal, there) for goal in short)
    return f"{'; '.join(lines)}; no buffer up to {limit} packets meets it"


def contradiction(
    trials: Trials,
    up: Sequence[Goal],
    missed: Sequence[Goal],
    need: Bracket,
    allow: Bracket | None,
) -> str:
    """Report goals that contradict each other, and their values at each bound."""
    least = trials.done[need.high or 1]
    floor = f"{_list(up)} needs at least {_packets(least)}, where {_values(missed, least)}"
    if not up:
        return f"{_list(missed)} is missed even with 1 packet, where {_values(missed, least)}"
    if allow is None or allow.low == 0:
        return f"the goals contradict each other: {floor}; {_list(missed)} allows no buffer at all"
    most = trials.done[allow.low]
    ceiling = f"{_list(missed)} allows at most {_packets(most)}, where {_values(up, most)}"
    return f"the goals contradict each other: {floor}; {ceiling}"


def _shortfall(goal: Goal, there: Trial) -> str:
    metric = there.metric(goal)
    where = f"with {_packets(there)} ({goal.says(metric)})"
    if goal.judge(metric) is Verdict.MISSED:
        return f"{goal} is missed even {where}"
    if not metric.n:
        return f"{goal} is not certain to be met, because the law may err, even {where}"
    return f"{goal} is not certain to be met with {there.seeds} seeds even {where}"


def _by_a_law(there: Trial) -> bool:
    """Whether a buffer's values come from no replication."""
    return all(not metric.n for metric in there.metrics)


def _list(goals: Sequence[Goal]) -> str:
    return " and ".join(str(goal) for goal in goals)


def _values(goals: Sequence[Goal], trial: Trial) -> str:
    named = ((g.kind.title or g.kind.name.replace("_", " "), g) for g in goals)
    return " and ".join(f"{name} is {g.says(trial.metric(g))}" for name, g in named)


def _packets(trial: Trial) -> str:
    return "1 packet" if trial.packets == 1 else f"{trial.packets} packets"
