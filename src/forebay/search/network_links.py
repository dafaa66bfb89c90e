"""Links of a network that are sized together: what a run costs, and what each of them needs.

Every run with one size for a class has an outcome for each of its links, so that no other run is
needed: `link_sizes` reads each link's size from them. `smallest_set` finds a size for every place,
a class or a link, at once: a try has a size for each; a place that meets the goals shrinks, another
grows; its step halves where the verdict turns. So the tries grow with the fineness of the answer,
not with the number of places. Its tries have exact answers and no seeds, so it is no `Problem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from forebay.engines.base import LinksEngine, NetworkTraffic
from forebay.outcome import CurvePoint, LinkOutcome, LinkSize, Outcome, Verdict
from forebay.progress import Progress
from forebay.scenario import Scenario
from forebay.search.cost import packets_s
from forebay.search.evidence import Evidence
from forebay.search.goals import Goal
from forebay.words import Fact

if TYPE_CHECKING:
    Sizes = NDArray[np.float64]
    Met = NDArray[np.bool_]


_PACKET_S, _HOP_S = 0.3e-6, 0.18e-6
"""Seconds that a packet of a network takes more than one of a single link: each, and at each link.

Fitted to parking lots of 40 to 8,000 flows and to the fast edge of Abilene with 5,239 and 52,394,
on one machine: within 40 % (bbr3 -16 %, 52,394 flows +38 %).
"""
_LAYOUT_S, _PATH_S = 0.04, 0.2e-6
"""Seconds to lay out the network before each replication: always, and for each path."""
LINK_S = 0.35e-3
"""Seconds that a link takes before and after its packets: it is made, read, summarized, checked.

Of provider networks of 2,320 to 60,320 links.
"""


@dataclass(frozen=True, slots=True)
class NetworkLoad:
    """The network that every run simulates, and what it has to move."""

    scenario: Scenario
    traffic: NetworkTraffic

    @property
    def replication_s(self) -> float:
        """Predicted seconds of one replication of the whole network."""
        measure = self.scenario.measure
        return self.price(self.scenario, float(measure.warmup + measure.duration))

    def price(self, scenario: Scenario, simulated_s: float) -> float:
        """Return the predicted seconds of so many simulated ones; see `cost.Speed`."""
        traffic = self.traffic
        packets = traffic.packets_per_second * simulated_s
        crossing_s = packets * (_PACKET_S + _HOP_S * traffic.hops)
        layout_s = _LAYOUT_S + _PATH_S * traffic.paths + LINK_S * traffic.links
        return packets_s(self.scenario, packets) + layout_s + crossing_s


@dataclass(frozen=True, slots=True)
class NetworkLinks:
    """The links of a network that get one size together.

    Attributes
    ----------
    description : text that names them, for the result.
    scenario : the network.
    overload : of the link that is offered most, if that is more than it carries.
    names : of the links of a class, which need not all have the same size; else empty.
    load : what each run costs; None if it is solved and not simulated.
    """

    description: Fact | str
    scenario: Scenario
    overload: Fact | None = None
    names: tuple[str, ...] = ()
    load: NetworkLoad | None = None

    @classmethod
    def of(cls, engine: LinksEngine, names: Sequence[str] = ()) -> NetworkLinks:
        """Return the links that an engine sizes."""
        traffic, links = engine.traffic, engine.links
        load = None if traffic is None else NetworkLoad(engine.scenario, traffic)
        return cls(links.says, engine.scenario, links.overload, tuple(names), load)


def link_sizes(
    curve: Sequence[CurvePoint], names: Sequence[str], goals: Sequence[Goal]
) -> tuple[LinkSize, ...]:
    """Return the size of each link, the one that needs most first.

    Parameters
    ----------
    curve : what was tried, sorted by packets.
    names : of the links that were sized together.
    goals : those that each of them has. One on utilization is asked only of links whose load
        reaches it with some size that was tried.
    """
    outcomes = [(point.packets, point.outcome) for point in curve]
    known = [name for name in names if outcomes and name in outcomes[0][1].links]
    sizes = [_size(name, outcomes, _asked(name, outcomes, goals)) for name in known]
    return tuple(sorted(sizes, key=lambda size: -(size.packets or float("inf"))))


def _asked(
    name: str, outcomes: Sequence[tuple[int, Outcome]], goals: Sequence[Goal]
) -> tuple[Goal, ...]:
    """Return the goals without one on utilization that no size lets the link reach."""
    return tuple(
        goal
        for goal in goals
        if goal.kind.name != "utilization"
        or any(_used(outcome.links[name]) >= goal.target for _, outcome in outcomes)
    )


def _used(link: LinkOutcome) -> float:
    return float(link.utilization or 0.0)


def _size(name: str, outcomes: Sequence[tuple[int, Outcome]], goals: Sequence[Goal]) -> LinkSize:
    """Return the smallest size that meets all goals, and the largest below that misses one."""
    missed: tuple[str, ...] = ()
    low = 1
    for packets, outcome in outcomes:
        read = ((goal, goal.kind.read(Evidence(outcome, behind=name))) for goal in goals)
        unmet = tuple(
            goal.kind.name for goal, metric in read
            if metric is None or goal.judge(metric) is not Verdict.MET
        )  # fmt: skip
        if not unmet:
            return LinkSize(link=name, packets=packets, low=low, binding=missed)
        missed, low = unmet, packets + 1
    return LinkSize(link=name, packets=None, low=low, binding=missed)


_FINE = 0.05
"""Two sizes of a place count as equal if their logarithms are this close."""
_MOST = 100
"""Most tries in which places shrink; where they still move then, the sizes only grow."""


class Places(Protocol):
    """Classes of links, or links, that can be tried with a size each."""

    @property
    def largest(self) -> Sizes:
        """The largest sizes, shape (places,); they meet the goals."""

    @property
    def least(self) -> Sizes:
        """The smallest sizes that places can have, shape (places,)."""

    def meet(self, sizes: Sizes) -> Met:
        """Whether the links of each place meet the goals with these sizes, shape (places,)."""


def smallest_set(places: Places, progress: Progress | None = None) -> Sizes:
    """Return the smallest sizes, shape (places,)."""
    low, high = np.log(np.minimum(places.least, places.largest)), np.log(places.largest)
    at, met, step = high, np.ones(len(high), bool), (high - low) / 2
    widest = left = float(step.max())
    for _ in range(_MOST):
        if (step <= _FINE).all():
            break
        at = np.clip(at + np.where(met, -step, step), low, high)
        before, met = met, places.meet(np.exp(at))
        turned = (met != before) | (met & (at <= low))
        step = np.clip(np.where(turned, step / 2, 1.5 * step), _FINE / 2, widest)
        left = min(left, float(step.max()))
        if progress is not None:
            progress(1.0 - left / widest)
    while not met.all():
        stuck = (~met & (at >= high)).any()  # then only larger sizes of others help
        at = np.minimum(np.where(met & ~stuck, at, at + _FINE / 2), high)
        met = places.meet(np.exp(at))
    if progress is not None:
        progress(1.0)
    return np.exp(at)
