"""Find the size of a buffer: one list of attempts, the cheapest evidence first.

Smaller links of the same kind come first, then larger ones, then the link itself; each narrows
what the last one left. Every attempt ends with the size that the rule chooses on its link, run.
So when the time ends, what stands is an answer, with the interval that its link carries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from forebay import engines
from forebay.catalogue.metrics import BOTTLENECK
from forebay.engines.base import Engine
from forebay.outcome import Cost, SizeResult, Verdict
from forebay.progress import Progress
from forebay.scenario import Tcp
from forebay.search import budget, carry
from forebay.search.answer import Ended, answer, missed_by_far
from forebay.search.cost import Speed, in_words
from forebay.search.goals import NobodyCrosses, SizingError
from forebay.search.level import Level, Options
from forebay.search.parameter import notes_of as of_parameter
from forebay.search.problem import Problem, most_by_delay
from forebay.search.recommended import Chosen, Needs, bursts, choose, price_sizes, speaks_of_loss
from forebay.search.refine import next_size
from forebay.search.rows import Row, least, region
from forebay.search.scaling import ScalingRule, is_one_process, rule_of, why_not
from forebay.words import Fact


def notes_of(problem: Problem, level: Level) -> tuple[Fact, ...]:
    """Return the notes on the runs of a link."""
    notes, link, engine = [], level.links[0], level.problem.engine
    if engine != problem.engine:
        notes.append(Fact("note.another-engine", asked=problem.engine, engine=engine))
    if level.shortened:
        full = budget.wanted(problem.scenario, problem.first_guess, problem.law_context.sawtooths)
        ran, needs = (in_words(float(of.warmup + of.duration)) for of in (link.measure, full))
        notes.append(Fact("note.shortened", ran=ran, needs=needs))
    there = least(level.rows)
    late = [kind for kind in there.outcome.classes if kind.settled is False] if there else []
    notes += [Fact("note.not-settled", name=kind.name, why=kind.unsettled) for kind in late]
    return (*notes, *of_parameter(problem.scenario, problem.engine, problem.parameter))


_FIRST, _LATER = 9.0, 7.0
"""Sizes with all first seeds that the first link takes, and those that the next ones take."""
_LAST = 2.0
"""Sizes with all first seeds for which there is time left when a link's rows have to do."""
_SHARES = (0.12, 0.35, 0.85)
"""Shares of the time that is left for one smaller link after another."""
_LARGER = 1.5
"""Least ratio of one link to the last one."""
_WHOLE = 0.75
"""Share of the time that is left within which the link itself is worth all of it."""
_MORE_SEEDS = 0.5
"""Share of the time that is left which sizes with more seeds may take."""
_WIDE = 1.3
"""Ratio of the least shown to the least not missed, from which on more seeds are worth it."""


def search(problem: Problem, engine: Engine, options: Options) -> SizeResult:
    """Find the size to configure, and the least that meets the problem's goals.

    Parameters
    ----------
    engine : runs the problem's scenario; it runs every size with the same seeds.

    Returns
    -------
    SizeResult
        If no size meets all goals, ``buffer`` is None, with ``reason`` and ``relaxations``. If the
        evidence decides nothing in the time, ``undecided`` is set, and the ``curve`` has what ran.
        If flows are a range, the answer serves both of its ends.

    Raises
    ------
    SizingError
        Bad seeds; nothing crosses the link; GoalNotAnswered if this engine does not give the metric
        of a goal.
    Interrupted
        Ctrl-C; the exception contains the findings so far.
    """
    seeds = options.seeds
    if not seeds or len(set(seeds)) != len(seeds):
        raise SizingError("bad-seeds", field="seeds", seeds=list(seeds))
    if not problem.scenario.crossing:
        raise NobodyCrosses(BOTTLENECK)
    return _Search.begin(problem, engine, options).result()


@dataclass
class _Search:
    """A search under way: its time, and the links that it has run."""

    problem: Problem
    engine: Engine
    options: Options
    time: budget.TimeLimit
    speed: Speed
    levels: list[Level] = field(default_factory=list)
    predicted_s: float = 0.0
    complete: bool = False
    other_hosts: Row | None = None
    charted: Level | None = None
    _reported: float = 0.0
    _progress: Progress | None = None

    @classmethod
    def begin(cls, problem: Problem, engine: Engine, options: Options) -> _Search:
        """Return a search whose time has begun; without a budget it is endless."""
        seconds = math.inf if options.budget_s is None else options.budget_s
        started_at = options.clock() if options.started_at is None else options.started_at
        time = budget.TimeLimit(seconds, options.clock, started_at)
        speed = Speed(options.effort.threads)
        if options.budget_s is not None:
            speed = Speed.under_load(options.effort.threads, options.clock)
        load = None if problem.network is None else problem.network.load
        if load is not None:
            speed = replace(speed, price=load.price)
        made = cls(problem, budget.Timed(engine, speed, options.clock), options, time, speed)
        made._progress = options.effort.progress
        made.options = options.with_progress(time.ending(made._report))
        return made

    def result(self) -> SizeResult:
        """Run the attempts, and assemble the answer."""
        interrupted = False
        try:
            self.charted = self._by_atlas()
            self._run_attempts()
            self._without_offload()
        except budget.OutOfTime:
            pass
        except KeyboardInterrupt:
            interrupted = True
        ended = self._ended(interrupted)
        problem = self.problem if ended.level is None else ended.level.problem
        result = answer(problem, ended, self.options.seeds)
        if interrupted:
            raise budget.Interrupted(result)
        self._report(1.0, whole=True)
        return result

    def _run_attempts(self) -> None:
        for level in self._attempts():
            self.complete = False
            self.levels.insert(0, level)
            self._refine(level)
            self._finish(level)
            self.complete = True
            if not region(level.rows) and missed_by_far(level.rows) is not None:
                break  # as it will be on a larger link

    def _by_atlas(self) -> Level | None:
        """Return what the atlas says of this link, which takes no time; None where it has none.

        It tells where simulation begins, and stands where no simulation fits into the time.
        """
        problem = self.problem
        if problem.engine != "simulation":
            return None
        atlas = engines.get("atlas")
        buffers = atlas.capabilities.buffers
        assert buffers is not None, "the atlas has bounds"
        try:
            least, most = buffers(problem.scenario)
            asked = replace(problem, engine=atlas.name, smallest=least, largest=most)
            once = self.options.with_seeds(self.options.seeds[:1]).with_progress(None)
            alone = _Search.begin(asked, atlas, replace(once, budget_s=None))
            alone._run_attempts()
        except (engines.OutsideAtlas, engines.EngineUnavailable, SizingError):
            return None
        return alone.levels[0] if region(alone.levels[0].rows) else None

    def _ended(self, interrupted: bool) -> Ended:
        """Return what stands: the largest link on which the rule chose a size that was run."""
        time, options = self.time, self.options
        budget_s, spent = options.budget_s, None
        if budget_s is not None:
            spent = Cost(predicted_s=self.predicted_s, spent_s=time.spent_s, budget_s=budget_s)
        level, chosen = self._standing()
        if level is None and self.levels:
            level = max(self.levels, key=lambda link: len(link.rows))
        newest = self.levels[0] if self.levels else None
        complete = level is not None and (self.complete or level is not newest)
        notes = () if level is None else notes_of(self.problem, level)
        done = tuple(link for link in self.levels if link.rows)
        hosts = self.other_hosts
        return Ended(level, done, chosen, complete, interrupted, hosts, notes, spent)

    def _standing(self) -> tuple[Level | None, Chosen | None]:
        """Return the largest link whose choice was run, or else one that comes near its choice."""
        problem = self.problem
        for ended in (False, True):
            for level in self.levels:
                at_hand = level.tried if ended else ()
                choice = choose(problem, level.rows, problem.limit, at_hand)
                if isinstance(choice, Chosen):
                    return level, choice
        charted = self.charted
        if charted is None or any(link.rows for link in self.levels):
            return None, None
        choice = choose(charted.problem, charted.rows, charted.problem.limit)
        return (charted, choice) if isinstance(choice, Chosen) else (None, None)

    # --- the attempts -------------------------------------------------------------------------

    def _attempts(self) -> Iterator[Level]:
        """Yield one link after another, each larger than the last, as far as the time goes."""
        problem, left_s = self.problem, self.time.left_s
        whole = self._level(1.0, ScalingRule(1.0, 1.0))
        if math.isinf(left_s):
            yield whole
            return
        whole_s = self._cost_s(whole, _FIRST)
        self.predicted_s = min(whole_s, budget.RESERVE * self.time.seconds)
        if self.options.expect is not None:
            self.options.expect(self.predicted_s)
        # A burst (`of`) is bytes, which last longer on a slower link.
        if problem.network is None and not problem.of and why_not(problem.scenario) is None:
            rule = rule_of(
                problem.scenario, max(4.0, whole_s / (_SHARES[0] * left_s)), whole_s / left_s
            )
            if rule.largest >= _LARGER:
                yield from self._smaller(rule, whole)
                return
        yield self._shortened(whole, _WHOLE * left_s)

    def _smaller(self, rule: ScalingRule, whole: Level) -> Iterator[Level]:
        """Yield smaller links of a kind, and the link itself as soon as it fits."""
        for share in _SHARES:
            left_s, sizes = self.time.left_s, _LATER if self.levels else _FIRST
            if self._cost_s(whole, sizes) <= (_WHOLE if self.levels else share) * left_s:
                yield whole
                return
            smallest = self._level(rule.largest, rule)
            if not self.levels and self._cost_s(smallest, sizes) > _SHARES[1] * left_s:
                yield self._shortened(smallest, _WHOLE * left_s)
                continue
            level = self._of_cost(rule, share * left_s, sizes)
            if not self.levels or self.levels[0].factor >= _LARGER * level.factor:
                yield level

    def _of_cost(self, rule: ScalingRule, seconds: float, sizes: float) -> Level:
        """Return the largest link whose sizes take so many seconds, or else the smallest."""
        low, high = 0.0, math.log(rule.largest)
        for _ in range(12):
            middle = (low + high) / 2.0
            if self._cost_s(self._level(math.exp(middle), rule), sizes) <= seconds:
                high = middle
            else:
                low = middle
        return self._level(math.exp(high), rule)

    def _level(self, factor: float, rule: ScalingRule) -> Level:
        """Return a link of the question's kind, with the window that its flows need."""
        problem, sawtooths = self.problem, self.problem.law_context.sawtooths
        level = Level(problem, self.engine, self.options, factor, rule, of=self._exponent(rule))
        if math.isinf(self.time.left_s) and problem.engine != "simulation":
            return level
        link = level.links[0]
        guess = max(1, round(problem.first_guess / factor))
        measure = budget.wanted(link, guess, sawtooths)
        return level if measure == link.measure else replace(level, measure=measure)

    def _shortened(self, level: Level, seconds: float) -> Level:
        """Return a link with runs so short that its sizes take so many seconds, if they may be."""
        cost_s = self._cost_s(level, _FIRST)
        link = level.links[0]
        if cost_s <= seconds or budget.is_fixed(self.problem.scenario):
            return level
        measure = budget.shorter(link.measure, float(link.mean_rtt), seconds / cost_s)
        return replace(level, measure=measure, shortened=True)

    def _cost_s(self, level: Level, sizes: float) -> float:
        """Return the predicted seconds of so many sizes of a link."""
        seeds, each_s = len(self.options.seeds), 0.0
        for link in level.links:
            simulated_s = float(link.measure.warmup + link.measure.duration)
            each_s += self.speed.wall_s(link, simulated_s, seeds)
        return sizes * each_s

    def _exponent(self, rule: ScalingRule) -> carry.Exponent:
        """Return by what exponent a smaller link stands for the whole, by all that ran."""
        by_time = not self.problem.parameter.is_limit
        # Where flows last, their windows decide the loss.
        steep = by_time or (speaks_of_loss(self.problem) and self.problem.scenario.n_flows > 0)
        one_process = is_one_process(self.problem.scenario) and not by_time
        before = carry.prior(rule, steep=steep, one_process=one_process)
        seen = [level.crossing() for level in self.levels if level.rows]
        known = [crossing for crossing in seen if crossing is not None]
        return carry.exponent(before, known, rule, steep=steep)

    # --- one link -----------------------------------------------------------------------------

    def _refine(self, level: Level) -> None:
        """Run the coarse curve of a link, then where the region of its goals begins and ends."""
        coarse = self._coarse(level)
        while True:
            while (packets := self._next_size(level.rows, coarse)) is not None:
                level.run(packets)
                if region(level.rows) and self._must_finish(level):
                    return
            if not self._with_more_seeds(level) or self._must_finish(level):
                return

    def _next_size(self, rows: Sequence[Row], coarse: Sequence[int]) -> int | None:
        """Return the next size to run.

        Where no size meets all goals, it is one that tells how far a goal must be relaxed.
        """
        problem = self.problem
        asked = [rows]
        if rows and not region(rows) and len(problem.goals) > 1:
            asked += [[row.without(goal) for row in rows] for goal in problem.goals]
        sizes = (next_size(some, coarse, problem.limit, problem.smallest) for some in asked)
        return next((packets for packets in sizes if packets is not None), None)

    def _must_finish(self, level: Level) -> bool:
        """Whether the time is just enough for the sizes that the rule asks for."""
        return self._cost_s(level, _LAST) > self.time.left_s

    def _coarse(self, level: Level) -> list[int]:
        """Return the sizes of the coarse curve, the most telling first."""
        problem, limit = self.problem, self.problem.limit
        others = (other for other in self.levels if other is not level)
        known = next((other for other in others if region(other.rows)), None)
        first = None if known is None else least(known.rows)
        if known is None and self.charted is not None:
            first = region(self.charted.rows)[0]
        centre = problem.first_guess if first is None else first.packets
        spread = 2.0 if first is None else 1.5
        most = most_by_delay(problem)
        top = max(problem.scenario.bdp_packets, 8.0 * centre) if most is None else 1.2 * most
        sizes = [centre, centre * spread, centre / spread]
        if problem.parameter.is_limit:
            root = problem.scenario.bdp_packets / math.sqrt(max(1, problem.scenario.n_flows))
            sizes += [root, bursts(problem.scenario).packets]
        within = (min(max(problem.smallest, round(size)), limit) for size in (*sizes, top))
        return list(dict.fromkeys(within))

    def _with_more_seeds(self, level: Level) -> bool:
        """Compare by twice the seeds, if the intervals leave the least open and there is time."""
        rows, options = level.rows, self.options
        part = region(rows)
        shown = next((row for row in part if row.verdict() is Verdict.MET), None)
        top = math.inf if shown is None else shown.packets
        missed = [row.packets for row in rows if row.verdict() is Verdict.MISSED]
        low = max((packets for packets in missed if packets < top), default=0) + 1
        total = min(2 * len(level.seeds), options.max_seeds)
        around = [row for row in rows if part and row.packets < part[0].packets][-1:]
        around += [*part[:1], *([] if shown is None or shown is part[0] else [shown])]
        again = [row for row in around or rows[-2:] if row.verdict() is not Verdict.MISSED]
        cost_s = (len(again) + _LAST) * self._cost_s(level, 1.0) * total / len(options.seeds)
        is_open = (not part or top > _WIDE * low) and again and total > len(level.seeds)
        if not is_open or cost_s > _MORE_SEEDS * self.time.left_s:
            return False
        seeds = [*options.seeds, *more_seeds(options.seeds, total)][:total]
        for row in again:
            level.run(row.packets, seeds)
        level.seeds = seeds  # now, so that the others still count if the time ends before
        return True

    def _finish(self, level: Level) -> None:
        """Run the size that the rule chooses on a link, and those beside it."""
        problem = self.problem
        level.carried_by(self._exponent(level.rule))
        for _ in range(12):
            choice = choose(problem, level.rows, problem.limit)
            if isinstance(choice, Needs):
                level.run(choice.packets)
            else:
                break
        else:
            return
        if choice is not None:
            for packets in price_sizes(choice.packets, problem.limit):
                if packets >= problem.smallest and level.at(packets) is None:
                    level.run(packets)

    def _without_offload(self) -> None:
        """Run the least with hosts that send one packet at a time, where nobody chose the hosts."""
        problem, level = self.problem, self.levels[0]
        changes = {
            f"traffic.{index}.offload": "off"
            for index, group in enumerate(problem.scenario.traffic)
            if isinstance(group, Tcp) and group.offloads_by_default
        }
        first = least(level.rows)
        compares = any(goal.kind.compares for goal in problem.goals)
        if not changes or first is None or compares or problem.scenario.files:
            return
        is_simulated = problem.engine == "simulation" and problem.network is None
        if is_simulated and self._cost_s(level, 1.0) <= budget.RESERVE * self.time.left_s:
            self.other_hosts = level.alone(first.packets, changes)

    def _report(self, _: float, *, whole: bool = False) -> None:
        """Report how far the search is, never less than before."""
        if self._progress is None:
            return
        rows = sum(len(level.rows) for level in self.levels)
        share = rows / (rows + 6.0)
        if not math.isinf(self.time.seconds):
            share = max(0.5 * share, self.time.spent_s / self.time.seconds)
        self._reported = 1.0 if whole else max(self._reported, min(share, 0.99))
        self._progress(self._reported)


def more_seeds(seeds: Sequence[int], total: int) -> range:
    """Return the seeds that follow the given ones, up to ``total`` in all."""
    first = max(seeds) + 1
    return range(first, first + max(0, total - len(seeds)))
