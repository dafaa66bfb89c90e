"""A link on which sizes are run: the question's own, or one of its kind that is smaller.

Every size is one of the whole link. It runs on this link as the size that stands for it
(`carry`), and the outcome is that of the whole link again (`rescale`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine
from forebay.outcome import Outcome, Verdict
from forebay.progress import Progress
from forebay.scenario import Measure, Scenario
from forebay.search import carry
from forebay.search.budget import Clock, measured
from forebay.search.parameter import SizedParameter, parameter_of
from forebay.search.problem import Problem
from forebay.search.rows import Row, crossing
from forebay.search.scaling import ScalingRule, as_whole, is_one_process, scaled

FARTHEST = 64
"""The search for an unlimited buffer ends at this multiple of the largest buffer to try."""
_LEAST_SD = 0.03
"""Least error of a crossing's log: all links use the same seeds, and no spread shows this."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What ran at one size of this link: an outcome for each end of the range of flows.

    Attributes
    ----------
    packets : the size, of this link.
    seeds : how many were asked for: an engine may answer from fewer.
    """

    packets: int
    outcomes: tuple[Outcome, ...]
    unlimited: tuple[Outcome | None, ...]
    seeds: int


@dataclass
class Level:
    """One link and what ran on it.

    Attributes
    ----------
    factor : the whole link's rate over this one's; 1 is the link itself.
    rule : how flows and windows shrink with it.
    measure : warm-up and window of its runs; None are the scenario's.
    of : exponent of small buffers in the rate (`carry.Exponent`).
    shortened : the runs are shorter than the question's own.
    seeds : what is compared has all of them, unless its intervals decide; the options' if empty.
    """

    problem: Problem
    engine: Engine
    options: Options
    factor: float = 1.0
    rule: ScalingRule = field(default_factory=lambda: ScalingRule(1.0, 1.0))
    measure: Measure | None = None
    of: carry.Exponent = field(default_factory=lambda: carry.Exponent(0.25, 0.0, 0.5))
    shortened: bool = False
    seeds: Sequence[int] = ()
    _runs: dict[int, _Run] = field(default_factory=dict)
    _stands: dict[int, int] = field(default_factory=dict)
    _rows: dict[int, tuple[_Run, Row]] = field(default_factory=dict)
    _unlimited: dict[tuple[int, int], Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.seeds = self.seeds or self.options.seeds
        ends = self.problem.ends()
        self.wholes = ends
        small, measure = [scaled(end, self.factor, self.rule.share) for end in ends], self.measure
        self.links = small if measure is None else [measured(link, measure) for link in small]
        self.parameter: SizedParameter = parameter_of(
            self.links[0],
            self.problem.engine,
            max(1, math.ceil(self.problem.limit / self.factor)),
            self.problem.of,
        )

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product of this link, packets; infinite without lasting flows."""
        if not self.problem.scenario.n_flows or is_one_process(self.problem.scenario):
            return math.inf
        return max(1e-9, self.links[0].bdp_packets)

    @property
    def rows(self) -> list[Row]:
        """What is compared, the smallest size first.

        A size with fewer seeds than others counts only if its intervals decide: few draws of the
        traffic may lack what is rare.
        """
        return [row for row in self.tried if self._decides(row)]

    def _decides(self, row: Row) -> bool:
        has_intervals = all(metric.low is not None for metric in row.metrics)
        decided = has_intervals and row.verdict() is not Verdict.UNDECIDED
        return decided or self._runs[self._stands[row.packets]].seeds >= len(self.seeds)

    @property
    def tried(self) -> list[Row]:
        """Everything that ran, the smallest size first."""
        return [self._row(whole, self._runs[here]) for whole, here in sorted(self._stands.items())]

    def at(self, packets: int) -> Row | None:
        """Return the row of a size of the whole link; None if it was not run."""
        here = self._stands.get(packets)
        return None if here is None else self._row(packets, self._runs[here])

    def run(self, packets: int, seeds: Sequence[int] | None = None) -> Row:
        """Run a size of the whole link, on these seeds or on the link's."""
        here = self._here(packets)
        wanted = self.seeds if seeds is None else seeds
        known = self._runs.get(here)
        if known is None or known.seeds < len(wanted):
            sized = [self.parameter.set(link, here) for link in self.links]
            outcomes = [self._simulate(link, wanted) for link in sized]
            unlimited = [self._without_drops(i, wanted) for i in range(len(self.links))]
            self._runs[here] = _Run(here, tuple(outcomes), tuple(unlimited), len(wanted))
        self._stands[packets] = here
        return self._row(packets, self._runs[here])

    def alone(self, packets: int, changes: Mapping[str, object]) -> Row:
        """Run a size of the question with changes, and do not keep it."""
        here = self._here(packets)
        sized = [self.parameter.set(link.replace(changes), here) for link in self.links]
        seeds = self.options.seeds
        outcomes = tuple(self._simulate(link, seeds) for link in sized)
        return self._made(packets, _Run(here, outcomes, (None,) * len(outcomes), len(seeds)))

    def carried_by(self, of: carry.Exponent) -> None:
        """Let what ran stand for sizes of the whole link by another exponent."""
        self.of = of
        self._rows.clear()
        if self.factor > 1.0:
            self._stands = {self._whole(here, of.value): here for here in self._runs}

    def crossing(self) -> carry.Crossing | None:
        """Return where the goals begin to be met here; None if no two rows enclose it."""
        crossings = {at: crossing(self.rows, at) for at in ("best", "value", "worst")}
        middle = crossings["value"]
        if middle is None:
            return None
        low, high = (middle if crossings[at] is None else crossings[at] for at in ("best", "worst"))
        assert low is not None and high is not None, "by `middle`"
        logs = [
            math.log(max(1.0, self._here_exactly(math.exp(log)))) for log in (low, middle, high)
        ]
        sd = max(abs(logs[2] - logs[0]) / 4.0, _LEAST_SD, 0.3 / math.exp(logs[1]))
        return carry.Crossing(self.factor, self.bdp, logs[1], sd)

    def whole_ends(self, packets: int) -> tuple[int, int]:
        """Return the sizes between which the whole link needs what this row stands for."""
        if self.factor == 1.0:
            return packets, packets
        here = self._here_exactly(packets)
        ends = sorted(self._whole(here, exponent) for exponent in (self.of.low, self.of.high))
        return min(ends[0], packets), max(ends[1], packets)

    def _whole(self, here: float, of: float) -> int:
        if self.factor == 1.0:
            return round(here)
        return max(1, round(carry.whole(here, self.factor, self.bdp, of)))

    def _here(self, packets: int) -> int:
        if self.factor == 1.0:
            return packets
        return carry.here(packets, self.factor, self.bdp, self.of.value)

    def _here_exactly(self, packets: float) -> float:
        """Return `_here`, not rounded where a run stands for the size."""
        known = self._stands.get(round(packets))
        return float(self._here(max(1, round(packets)))) if known is None else float(known)

    def _row(self, packets: int, run: _Run) -> Row:
        """Return the row of a run, made once: a search reads all of them before each size."""
        known = self._rows.get(packets)
        if known is None or known[0] is not run:
            known = self._rows[packets] = (run, self._made(packets, run))
        return known[1]

    def _made(self, packets: int, run: _Run) -> Row:
        problem = self.problem
        outcomes, unlimited = run.outcomes, run.unlimited
        if self.factor > 1.0:
            outcomes, unlimited = (
                self._as_whole(packets, run, ran) for ran in (outcomes, unlimited)
            )
        return Row.of(packets, outcomes, problem.goals, problem.engine, unlimited)

    def _as_whole(self, packets: int, run: _Run, outcomes: Sequence[Any]) -> tuple[Any, ...]:
        sized = [self.problem.parameter.set(whole, packets) for whole in self.wholes]
        buffers, windows = packets / run.packets, self._windows
        return tuple(
            outcome and as_whole(outcome, whole, self.factor, buffers, windows=windows)
            for outcome, whole in zip(outcomes, sized, strict=True)
        )

    @property
    def _windows(self) -> float:
        """A flow's window on the whole link over that on this one, where a loss goes with it.

        Controls that follow a model of the path do not obey the law, and keep their loss.
        """
        if not self.rule.shrinks_windows or self.rule.by_model:
            return 1.0
        return float(self.factor ** (1.0 - self.rule.share))

    def _simulate(self, scenario: Scenario, seeds: Sequence[int]) -> Outcome:
        return self.engine.run(scenario, seeds, self.options.effort)

    def _without_drops(self, index: int, seeds: Sequence[int]) -> Outcome | None:
        """Return the outcome of a buffer so large that nothing is dropped, on the same seeds."""
        if not any(goal.kind.compares for goal in self.problem.goals):
            return None
        known = self._unlimited.get((index, len(seeds)))
        if known is not None:
            return known
        packets = max(1, math.ceil(self.problem.limit / self.factor))
        most = FARTHEST * packets
        while True:
            sized = self.parameter.unlimited(self.links[index], packets)
            outcome = self._simulate(sized, seeds)
            lost = outcome.links[BOTTLENECK].loss_rate
            if lost is None or not lost.value or 4 * packets > most:
                break
            packets *= 4
        self._unlimited[index, len(seeds)] = outcome
        return outcome


@dataclass(frozen=True, slots=True)
class Options:
    """How a search may run.

    Attributes
    ----------
    seeds : seeds of each first run; every buffer runs with the same ones.
    max_seeds : the most seeds that a buffer may use in total if its 95 % interval does not clear a
        target (no effect below ``len(seeds)``).
    effort : its jobs are the engine's; its progress is told an estimate that never decreases.
    budget_s : elapsed seconds; None lets the search take its time.
    expect : with a budget called once, before anything runs, with the predicted seconds.
    clock : tests replace it.
    started_at : when the time began, by the clock; None is when the search begins.
    """

    seeds: Sequence[int]
    max_seeds: int
    effort: Effort = DEFAULT
    budget_s: float | None = None
    expect: Callable[[float], None] | None = None
    clock: Clock = time.monotonic
    started_at: float | None = None

    def with_progress(self, progress: Progress | None) -> Options:
        """Return the same options with another callback."""
        return replace(self, effort=self.effort.telling(progress))

    def with_seeds(self, seeds: Sequence[int]) -> Options:
        """Return the same options with these seeds alone."""
        return replace(self, seeds=seeds, max_seeds=len(seeds))
