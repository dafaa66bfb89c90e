"""One sizing: its goals, and every tried buffer with its outcome.

The workload of a seed does not depend on the buffer, so equal seeds are common random numbers:
two buffers are compared on the same flows. An undecided buffer runs again with more seeds of the
same list; nothing runs twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import median_low
from typing import TYPE_CHECKING, Protocol

from forebay.outcome import LINK, LawResult, Push, Regime, Verdict
from forebay.sizing.evidence import Evidence, all_of, seeds_wanted
from forebay.sizing.goals import Goal, GoalNotAnswered
from forebay.sizing.knob import Knob, knob_of

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Metric, Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario

FARTHEST = 64
"""The search for an unlimited buffer ends at this multiple of the largest buffer to try."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One buffer, the engine's outcome for it, and each goal's metric (in goal order)."""

    packets: int
    outcome: Outcome
    seeds: int
    goals: tuple[Goal, ...]
    metrics: tuple[Metric, ...]

    def verdict(self, goals: Iterable[Goal]) -> Verdict:
        """Return the common verdict on some of the goals."""
        return all_of(goal.judge(self.metric(goal)) for goal in goals)

    def metric(self, goal: Goal) -> Metric:
        """Return the metric of a goal."""
        return self.metrics[self.goals.index(goal)]

    def excess(self) -> float:
        """Return the excess of the worst goal; see `Goal.excess`."""
        return max(goal.excess(self.metric(goal)) for goal in self.goals)


class Trials:
    """Runs the engine at each buffer once, and stores the outcomes."""

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        goals: tuple[Goal, ...],
        *,
        seeds: Sequence[int],
        max_seeds: int,
        jobs: int,
        progress: Progress | None,
        limit: int,
        knob: Knob | None = None,
    ) -> None:
        self.knob = knob_of(scenario, engine.name, limit) if knob is None else knob
        self.goals = goals
        self.done: dict[int, Trial] = {}
        self.first_seeds = len(seeds)
        self.max_seeds = max(max_seeds, len(seeds))
        self.remaining = 0
        self._scenario = scenario
        self._engine = engine
        self._seeds = [*seeds, *more_seeds(seeds, self.max_seeds)]
        self._jobs = jobs
        self._progress = progress
        self._done = 0.0
        self._running = 1.0
        self._reported = 0.0
        self._compares = any(goal.kind.compares for goal in goals)
        self._unlimited: dict[int, Outcome] = {}
        self.unlimited_packets = limit

    def at(self, packets: int) -> Trial:
        """Return the trial at a buffer, run with the first seeds if it is new."""
        known = self.done.get(packets)
        return known if known is not None else self._run(packets, self.first_seeds)

    def settle(self, packets: int, goals: Sequence[Goal]) -> Trial:
        """Return the trial at a buffer with as many seeds as these goals need, or all."""
        trial = self.at(packets)
        while trial.verdict(goals) is Verdict.UNDECIDED and not self.exhausted(packets):
            trial = self._run(packets, self._enough(trial, goals))
        return trial

    def settle_fully(self, packets: int) -> Trial:
        """Return the trial at a buffer with all available seeds."""
        trial = self.at(packets)
        return trial if self.exhausted(packets) else self._run(trial.packets, self.max_seeds)

    def exhausted(self, packets: int) -> bool:
        """Whether this buffer has run with all available seeds."""
        return packets in self.done and self.done[packets].seeds >= self.max_seeds

    def _enough(self, trial: Trial, goals: Sequence[Goal]) -> int:
        """Jump to the number of seeds that should decide, because each step costs a rerun."""
        open_goals = (g for g in goals if g.judge(trial.metric(g)) is Verdict.UNDECIDED)
        wanted = max(seeds_wanted(trial.metric(g), g.target, trial.seeds) for g in open_goals)
        return ceil(min(max(1.2 * wanted, 2 * trial.seeds), self.max_seeds))

    def record(self, packets: int, outcome: Outcome) -> Trial:
        """Record a buffer's known outcome and return its trial; none of its goals compares."""
        return self._judged(packets, len(outcome.provenance.seeds), Evidence(outcome))

    def _run(self, packets: int, seeds: int) -> Trial:
        known = self.done[packets].seeds if packets in self.done else 0
        self._running = max(seeds - known, 1) / self.first_seeds
        seen = Evidence(
            self._run_engine(self.knob.set(self._scenario, packets), seeds),
            self._without_drops(seeds),
        )
        return self._judged(packets, seeds, seen)

    def _judged(self, packets: int, seeds: int, seen: Evidence) -> Trial:
        metrics = tuple(self._read(goal, seen) for goal in self.goals)
        trial = Trial(packets, seen.outcome, seeds, self.goals, metrics)
        self.done[packets] = trial
        return trial

    def _run_engine(self, scenario: Scenario, seeds: int) -> Outcome:
        outcome = self._engine.run(
            scenario,
            self._seeds[:seeds],
            jobs=self._jobs,
            progress=None if self._progress is None else self._report,
        )
        self._done += self._running
        self._running = 1.0
        self._report(0.0)
        return outcome

    def _without_drops(self, seeds: int) -> Outcome | None:
        """Return the outcome of a buffer so large that nothing is dropped, on the same seeds."""
        if not self._compares:
            return None
        if seeds not in self._unlimited:
            most = FARTHEST * self.unlimited_packets if not self._unlimited else 0
            outcome = self._run_engine(self._unlimited_scenario(), seeds)
            while dropped(outcome) and 4 * self.unlimited_packets <= most:
                self.unlimited_packets *= 4
                outcome = self._run_engine(self._unlimited_scenario(), seeds)
            self._unlimited[seeds] = outcome
        return self._unlimited[seeds]

    def _unlimited_scenario(self) -> Scenario:
        return self.knob.unlimited(self._scenario, self.unlimited_packets)

    @property
    def unlimited(self) -> Outcome | None:
        """The reference outcome of comparisons; None if there were none."""
        return next(iter(self._unlimited.values()), None)

    def _read(self, goal: Goal, seen: Evidence) -> Metric:
        metric = goal.kind.read(seen)
        if metric is None:
            raise GoalNotAnswered(goal.kind.name, self._engine.name)
        return metric

    def _report(self, fraction: float) -> None:
        """Report the fraction done; the remaining runs are an estimate, so never decrease it.

        A run counts by its new replications: those of the first seeds are 1.
        """
        if self._progress is None:
            return
        done = self._done + fraction * self._running
        estimate = done / (self._done + self._running + max(self.remaining - 1, 0))
        self._reported = max(self._reported, min(estimate, 0.99))
        self._progress(self._reported)


def more_seeds(seeds: Sequence[int], total: int) -> range:
    """Return the seeds that follow the given ones, up to ``total`` in all."""
    first = max(seeds) + 1
    return range(first, first + max(0, total - len(seeds)))


def dropped(outcome: Outcome) -> float:
    """Return the loss rate of the link, 0 if it is unknown."""
    loss = outcome.links[LINK].loss_rate
    return 0.0 if loss is None else loss.value


class LawLike(Protocol):
    """The parts of a published law's answer that a sizing needs."""

    @property
    def law(self) -> str: ...
    @property
    def packets(self) -> float | None: ...
    @property
    def assumptions_hold(self) -> bool: ...
    @property
    def broken_assumptions(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...


class RegimeLike(Protocol):
    """The parts of the governing law that a sizing needs: text for the user."""

    @property
    def regime(self) -> str: ...
    @property
    def law(self) -> str | None: ...
    @property
    def why(self) -> str: ...
    @property
    def would_change(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a sizing.

    Attributes
    ----------
    engine : name of the engine.
    trials : every tried buffer; its goals are all goals of the scenario.
    goals : the goals of this question, which may be fewer.
    limit : largest buffer to try, packets.
    laws, governs : the buffers of published laws, and the law that governs.
    """

    scenario: Scenario
    engine: str
    trials: Trials
    goals: tuple[Goal, ...]
    limit: int
    laws: tuple[LawResult, ...] = ()
    governs: Regime | None = None

    @property
    def up(self) -> tuple[Goal, ...]:
        """Goals that a larger buffer helps to meet."""
        return self._pushing("up")

    @property
    def down(self) -> tuple[Goal, ...]:
        """Goals that a smaller buffer helps to meet."""
        return self._pushing("down")

    @property
    def either(self) -> tuple[Goal, ...]:
        """Goals that may be met between two buffers that miss."""
        return self._pushing("either")

    def _pushing(self, way: Push) -> tuple[Goal, ...]:
        return tuple(goal for goal in self.goals if goal.kind.pushes == way)

    def with_goals(self, goals: Sequence[Goal]) -> Question:
        """Return the question about these goals alone, on the same trials."""
        return replace(self, goals=tuple(goals))

    def not_met_below(self, packets: int) -> tuple[Goal, ...]:
        """Return the goals that are not shown to be met at the next smaller buffer."""
        below = [b for b in self.trials.done if b < packets]
        if not below:
            return ()
        under = self.trials.done[max(below)]
        forbid = (*self.up, *self.either)
        return tuple(g for g in forbid if g.judge(under.metric(g)) is not Verdict.MET)


def first_guess(scenario: Scenario, laws: Sequence[LawLike]) -> int:
    """Return the first buffer: the lower median of the laws that hold, else bdp/sqrt(n)."""
    known = [law.packets for law in laws if law.assumptions_hold and law.packets]
    if known:
        return max(1, round(median_low(known)))
    return max(1, round(scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))))


def upper_limit(scenario: Scenario) -> int:
    """Return the largest buffer to try, packets.

    One bdp keeps a link busy even with one flow or with synchronized flows (paper A, sections
    2 and 3). Four bdp leave room for slow starts, and the constant leaves room on tiny links.
    Without lasting flows only bursts count, which do not depend on the bdp.
    """
    return math.ceil(4 * scenario.bdp_packets) + (64 if scenario.n_flows else 4096)


def law_result(law: LawLike) -> LawResult:
    """Return a law's answer in the form of the result."""
    return LawResult(
        law=law.law,
        packets=law.packets,
        packets_whole=getattr(law, "packets_whole", None),
        assumptions_hold=law.assumptions_hold,
        broken_assumptions=law.broken_assumptions,
        source=law.source,
        packets_between=getattr(law, "between", None),  # where flows are a range
    )


def regime(governs: RegimeLike) -> Regime:
    """Return the governing law in the form of the result."""
    return Regime(
        regime=governs.regime,
        law=governs.law,
        why=governs.why,
        would_change=governs.would_change,
    )
