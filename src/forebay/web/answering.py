"""The answer of a question: a coarse curve at once, then the search, whose runs refine it."""

import math
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field

import forebay
from forebay.web import opening
from forebay.web.opening import Keep, Refused
from forebay.web.runs import MEMORY, Run, shorter, wire_s
from forebay.words import Fact

_MOST_PACKETS = 1_500_000
"""Packets of one replication: some 0.1 to 0.4 s of a processor."""
_ROUND_TRIPS, _LEAST_S = 15.0, 0.1
"""The shortest run: so many round trips, and so many seconds."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """A scenario for one quick replication of each buffer.

    ``is_whole``: whether it is the question's own window.
    """

    scenario: forebay.Scenario
    is_whole: bool

    @property
    def words(self) -> str:
        """How long is simulated, for the page."""
        measure = self.scenario.measure
        if self.is_whole:
            return str(Fact("workbench.whole", seconds=measure.warmup + measure.duration))
        return str(Fact("workbench.short", window=measure.duration, warmup=measure.warmup))


def coarse(scenario: forebay.Scenario) -> Coarse | None:
    """Return a scenario whose replication is quick; None if its window would say nothing."""
    short = shorter(scenario, _MOST_PACKETS)
    if short is None:
        return Coarse(scenario, True)
    needed_s = max(_LEAST_S, wire_s(scenario, _ROUND_TRIPS * scenario.bdp_packets))
    return None if wire_s(scenario, _MOST_PACKETS) < needed_s else Coarse(short, False)


_EVERY_S = 0.25
"""Progress is sent no more often."""
_CURVE_S = 4.0
"""No replication of a large link begins after so long: the search is worth more."""


@dataclass
class Answer:
    """Work that answers one question.

    Attributes
    ----------
    pool : runs replications of the curve side by side.
    budget : time of the search; None is that of `forebay.size`.
    keep : called with the answer.
    """

    scenario: forebay.Scenario
    jobs: int
    pool: Executor
    budget: str | None
    keep: Keep
    _told_at: float = field(default=0.0, init=False)

    def __call__(self, run: Run) -> None:
        """Send the curve, then the answer."""
        self._curve(run)
        self._size(run)

    def _curve(self, run: Run) -> None:
        """Send a point for each buffer of the curve, from one replication, side by side."""
        discipline = self.scenario.queue.discipline
        if discipline != "drop-tail":
            run.send("aims", {"discipline": discipline})
            return
        sizes = opening.sizes(self.scenario, forebay.laws.for_scenario(self.scenario))
        if by_atlas(run, self.scenario, sizes):
            return
        quick = coarse(self.scenario)
        if quick is None:
            run.send("too-large", {})
            return
        run.send("stage", {"stage": "coarse", "windows": quick.words})
        until = math.inf if quick.is_whole else time.monotonic() + _CURVE_S

        def one(packets: int) -> None:
            if time.monotonic() > until:
                return
            outcome = forebay.run(
                quick.scenario.with_buffer(packets), jobs=1, memory_limit=MEMORY,
                progress=run.goes_on,
            )  # fmt: skip
            run.send("point", {"stage": "coarse", **opening.point_of(outcome)})

        try:
            list(self.pool.map(one, from_the_middle(sizes)))
        except forebay.TooMuchMemory:
            run.send("too-large", {})

    def _size(self, run: Run) -> None:
        """Send what `forebay.size` runs, and its answer."""
        run.send("stage", {"stage": "sizing"})

        def progress(fraction: float) -> None:
            run.goes_on(fraction)
            if time.monotonic() > self._told_at + _EVERY_S:
                self._told_at = time.monotonic()
                run.send("progress", {"fraction": fraction})

        def observe(outcome: forebay.Outcome) -> None:
            if opening.is_of(outcome, self.scenario):
                run.send("point", {"stage": "fine", **opening.point_of(outcome)})

        try:
            answer = forebay.size(
                self.scenario, jobs=self.jobs, memory_limit=MEMORY, budget=self.budget,
                progress=progress, observe=observe,
                expect=lambda seconds: run.send("expect", {"seconds": seconds}),
            )  # fmt: skip
        except forebay.SizingError as error:
            if error.code != "no-goals":
                raise
            raise Refused("refused.no-goals", field="goals") from None
        else:
            run.send("sized", opening.sized(answer, self.keep))


def by_atlas(run: Run, scenario: forebay.Scenario, sizes: list[int]) -> bool:
    """Send a point for each buffer that the atlas covers; return whether it covers this link."""
    points = []
    for packets in sizes:
        try:
            outcome = forebay.run(scenario.with_buffer(packets), "atlas")
        except forebay.OutsideAtlas as outside:
            if outside.field != "queue.size":
                return False
        else:
            points.append({"stage": "coarse", **opening.point_of(outcome), "replications": 0})
    if points:
        run.send("stage", {"stage": "coarse", "windows": str(Fact("workbench.atlas"))})
        for point in points:
            run.send("point", point)
    return bool(points)


def from_the_middle(sizes: list[int]) -> list[int]:
    """Return sizes in the order in which they tell most: the middle, then every other, the rest."""
    middle = len(sizes) // 2
    first = {middle, *range(middle % 2, len(sizes), 2)}
    order = [middle, *sorted(first - {middle}), *(i for i in range(len(sizes)) if i not in first)]
    return [sizes[index] for index in order]


def warm_up() -> None:
    """Size and simulate a link that takes no time."""
    link, traffic = forebay.Link(rate="1 Mbit/s"), (forebay.Long(flows=1, start="0 s"),)
    measure = forebay.Measure(warmup="0 s", duration="1 s")
    goals = forebay.Goals(utilization=0.5)
    easy = forebay.Scenario(link=link, traffic=traffic, measure=measure, goals=goals)
    opening.laws_of(easy)
    opening.point_of(forebay.run(easy))
    opening.sized(forebay.size(easy, seeds=2, max_seeds=2), str)
