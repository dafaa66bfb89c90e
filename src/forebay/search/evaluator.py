"""Run an engine at sizes of one question, and keep every evaluation.

The workload of a seed does not depend on the buffer, so equal seeds are common random numbers:
two buffers are compared on the same flows. An undecided buffer runs again with more seeds of the
same list; nothing runs twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import Verdict
from forebay.search.evaluations import Evaluation, Evaluations
from forebay.search.evidence import seeds_wanted
from forebay.search.goals import Goal

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.scenario import Measure, Scenario
    from forebay.search.options import Options
    from forebay.search.problem import Problem

FARTHEST = 64
"""The search for an unlimited buffer ends at this multiple of the largest buffer to try."""


class Evaluator:
    """Runs the engine at each size once, and stores the outcomes in ``evaluations``.

    Attributes
    ----------
    problem : its goals are judged at every size.
    remaining : an estimate of the runs to come, for progress only.
    """

    def __init__(self, problem: Problem, engine: Engine, options: Options) -> None:
        self.problem = problem
        self.evaluations = Evaluations(problem.goals, problem.engine)
        self.parameter = problem.parameter  # raises before any run
        self.first_seeds = len(options.seeds)
        self.max_seeds = max(options.max_seeds, len(options.seeds))
        self.remaining = 0
        self._engine = engine
        self._options = options
        self._seeds = [*options.seeds, *more_seeds(options.seeds, self.max_seeds)]
        self._done = 0.0
        self._running = 1.0
        self._reported = 0.0
        self._compares = any(goal.kind.compares for goal in problem.goals)
        self._unlimited: dict[int, Outcome] = {}
        self._unlimited_packets = problem.limit

    @property
    def done(self) -> dict[int, Evaluation]:
        """The evaluations by packets."""
        return self.evaluations.done

    def at(self, packets: int) -> Evaluation:
        """Return the evaluation of a buffer, run with the first seeds if it is new."""
        known = self.done.get(packets)
        return known if known is not None else self._run(packets, self.first_seeds)

    def settle(self, packets: int, goals: Sequence[Goal]) -> Evaluation:
        """Return the evaluation of a buffer with as many seeds as these goals need, or all."""
        there = self.at(packets)
        while there.verdict(goals) is Verdict.UNDECIDED and not self.exhausted(packets):
            there = self._run(packets, self._enough(there, goals))
        return there

    def settle_fully(self, packets: int) -> Evaluation:
        """Return the evaluation of a buffer with all available seeds."""
        there = self.at(packets)
        return there if self.exhausted(packets) else self._run(packets, self.max_seeds)

    def exhausted(self, packets: int) -> bool:
        """Whether this buffer has run with all available seeds."""
        return packets in self.done and self.done[packets].seeds >= self.max_seeds

    def simulate(
        self, packets: int, seeds: Sequence[int], *, measure: Measure | None = None
    ) -> Outcome:
        """Return the outcome of a buffer with these seeds, and do not store it.

        ``measure`` replaces the scenario's measurement unless it is None.
        """
        sized = self.sized(packets)
        if measure is not None:
            sized = sized.model_copy(update={"measure": measure})
        options = self._options
        return self._engine.run(sized, seeds, jobs=options.jobs, progress=options.progress)

    def sized(self, packets: int) -> Scenario:
        """Return the scenario with a size."""
        return self.parameter.set(self.problem.scenario, packets)

    def _enough(self, there: Evaluation, goals: Sequence[Goal]) -> int:
        """Jump to the number of seeds that should decide, because each step costs a rerun."""
        open_goals = (g for g in goals if g.judge(there.metric(g)) is Verdict.UNDECIDED)
        wanted = max(seeds_wanted(there.metric(g), g.target, there.seeds) for g in open_goals)
        return ceil(min(max(1.2 * wanted, 2 * there.seeds), self.max_seeds))

    def _run(self, packets: int, seeds: int) -> Evaluation:
        known = self.done[packets].seeds if packets in self.done else 0
        self._running = (seeds - known) / self.first_seeds
        outcome = self._run_engine(self.sized(packets), seeds)
        unlimited = self._without_drops(seeds)
        return self.evaluations.record(packets, outcome, seeds=seeds, unlimited=unlimited)

    def _run_engine(self, scenario: Scenario, seeds: int) -> Outcome:
        options = self._options
        outcome = self._engine.run(
            scenario,
            self._seeds[:seeds],
            jobs=options.jobs,
            progress=None if options.progress is None else self._report,
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
            most = FARTHEST * self._unlimited_packets if not self._unlimited else 0
            outcome = self._run_engine(self._unlimited_scenario(), seeds)
            while loss_rate(outcome) and 4 * self._unlimited_packets <= most:
                self._unlimited_packets *= 4
                outcome = self._run_engine(self._unlimited_scenario(), seeds)
            self._unlimited[seeds] = outcome
            first = next(iter(self._unlimited.values()))
            self.evaluations.reference = self._unlimited_packets, first
        return self._unlimited[seeds]

    def _unlimited_scenario(self) -> Scenario:
        return self.parameter.unlimited(self.problem.scenario, self._unlimited_packets)

    def _report(self, fraction: float) -> None:
        """Report the fraction done; the remaining runs are an estimate, so never decrease it.

        A run counts by its new replications: those of the first seeds are 1.
        """
        if self._options.progress is None:
            return
        done = self._done + fraction * self._running
        estimate = done / (self._done + self._running + max(self.remaining - 1, 0))
        self._reported = max(self._reported, min(estimate, 0.99))
        self._options.progress(self._reported)


def more_seeds(seeds: Sequence[int], total: int) -> range:
    """Return the seeds that follow the given ones, up to ``total`` in all."""
    first = max(seeds) + 1
    return range(first, first + max(0, total - len(seeds)))


def loss_rate(outcome: Outcome) -> float:
    """Return the loss rate of the link, 0 if it is unknown."""
    loss = outcome.links[BOTTLENECK].loss_rate
    return 0.0 if loss is None else loss.value
