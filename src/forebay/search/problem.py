"""What is asked: a scenario, its goals, the parameter that is sized, and what laws say of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median_low

from forebay.engines.base import LinksEngine
from forebay.laws import LawAnswer, Regime
from forebay.laws.assumptions import SawtoothsOf
from forebay.laws.quantities import overload
from forebay.outcome import LawResult, LinkRegime
from forebay.scenario import Requests, Scenario
from forebay.search.goals import Goal, goals_of
from forebay.search.network_links import NetworkLinks
from forebay.search.parameter import SizedParameter, parameter_of
from forebay.words import Fact


@dataclass(frozen=True, slots=True)
class LawContext:
    """What published laws say of a link.

    Attributes
    ----------
    laws : their answers; the result shows them, and the search starts from them.
    governs : the regime of the link; the result shows it.
    sawtooths : `forebay.laws.assumptions.sawtooths_s`; without it no window is lengthened.
    """

    laws: Sequence[LawAnswer] = ()
    governs: Regime | None = None
    sawtooths: SawtoothsOf | None = None

    @property
    def results(self) -> tuple[LawResult, ...]:
        """The laws' answers in the form of the result."""
        return tuple(
            LawResult(
                law=law.law, packets=law.packets, packets_whole=law.packets_whole,
                assumptions_hold=law.assumptions_hold, broken_assumptions=law.broken_assumptions,
                source=law.source, packets_between=law.between,
            )
            for law in self.laws
        )  # fmt: skip

    @property
    def regime(self) -> LinkRegime | None:
        """The governing law in the form of the result."""
        of = self.governs
        if of is None:
            return None
        return LinkRegime(regime=of.regime, law=of.law, why=of.why, would_change=of.would_change)


@dataclass(frozen=True)
class Problem:
    """One question: which sizes of one parameter meet the goals.

    Attributes
    ----------
    scenario : the link; its number of flows may be a range.
    engine : name of the engine.
    goals : the scenario's goals, or some of them.
    largest : the largest size to try, packets; None derives it from the link's bdp.
    smallest : the smallest size to try, packets.
    network : the links of a network that are sized together; no smaller network replaces it. None
        for a link alone.
    of : the field of a size that is sized in place of the queue; "" for the queue.
    sizes : the only sizes that can be configured, packets, sorted; empty if any can.
    """

    scenario: Scenario
    engine: str
    goals: tuple[Goal, ...]
    law_context: LawContext = LawContext()
    largest: int | None = None
    network: NetworkLinks | None = None
    of: str = ""
    sizes: tuple[int, ...] = ()
    smallest: int = 1

    @cached_property
    def limit(self) -> int:
        """The largest size to try, packets; an alpha gives a queue less than the memory."""
        if self.of == "queue.alpha" and self.scenario.memory is not None:
            return max(1, int(0.99 * self.scenario.memory / self.scenario.packet))
        return upper_limit(self.scenario) if self.largest is None else self.largest

    @cached_property
    def parameter(self) -> SizedParameter:
        """The parameter that is sized. Raises ScenarioError if there is none."""
        return parameter_of(self.scenario, self.engine, self.limit, self.of)

    @property
    def asked(self) -> Scenario:
        """What the user wrote: the link, or the network that has it."""
        return self.scenario if self.network is None else self.network.scenario

    @property
    def overload(self) -> Fact | None:
        """What the link is offered, if that is more than it carries."""
        if self.network is not None:
            return self.network.overload
        load = overload(self.scenario)
        if load is None:
            return None
        return Fact("note.overload", link=Fact("note.the-link"), percent=100 * load)

    def ends(self) -> tuple[Scenario, ...]:
        """Return the scenario, or those of both ends of a range of flows."""
        asked = self.scenario
        if not asked.flows_uncertain:
            return (asked,)
        return asked.at_flows("low"), asked.at_flows("high")

    @property
    def first_guess(self) -> int:
        """The first size to try."""
        return first_guess(self.scenario, self.law_context.laws)


def problem_of_links(engine: LinksEngine, *, of_class: bool) -> Problem:
    """Return the question of the links that an engine sizes. Raises NoGoals."""
    links = engine.links
    network = NetworkLinks.of(engine, links.names if of_class else ())
    asked = links.question
    return Problem(asked, engine.name, goals_of(asked), largest=links.limit, network=network)


def most_by_delay(problem: Problem) -> int | None:
    """Return the packets above which one may wait longer than a goal allows; None without one."""
    delays = [
        goal.target
        for goal in problem.goals
        if goal.kind.direction == "decreasing" and goal.kind.unit == "s"
    ]
    return math.floor(min(delays) / problem.parameter.packet_s) if delays else None


def first_guess(scenario: Scenario, laws: Sequence[LawAnswer]) -> int:
    """Return the first buffer: the lower median of the laws that hold, else bdp/sqrt(n)."""
    known = [law.packets for law in laws if law.assumptions_hold and law.packets]
    if known:
        return max(1, round(median_low(known)))
    return square_root_rule(scenario)


def square_root_rule(scenario: Scenario) -> int:
    """Return a bandwidth-delay product over the square root of n, packets; at least 1."""
    return max(1, round(scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))))


def upper_limit(scenario: Scenario) -> int:
    """Return the largest buffer to try, packets.

    One bdp keeps a link busy even with one flow or with synchronized flows (paper A, sections
    2 and 3). Four bdp leave room for slow starts, and the constant leaves room on tiny links.
    Without lasting flows only bursts count, which do not depend on the bdp. Workers that answer
    together may have all their answers in the queue, which may be twice as long as their mean.
    """
    together = sum(
        2 * group.flows * group.response.mean_packets(group.packet)
        for group in scenario.crossing
        if isinstance(group, Requests)
    )
    return math.ceil(4 * scenario.bdp_packets + together) + (64 if scenario.n_flows else 4096)
