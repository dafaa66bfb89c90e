"""The links of a network that are sized together, and what a run of the network costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.search.cost import packets_s

if TYPE_CHECKING:
    from forebay.engines.base import LinksEngine, NetworkTraffic
    from forebay.outcome import SizeResult
    from forebay.scenario import Scenario

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
    load : what each run costs; None if it is solved and not simulated.
    """

    description: str
    load: NetworkLoad | None = None

    def named(self, found: SizeResult) -> SizeResult:
        """Return a result whose notes name the links, and what the engine leaves out there."""
        at = (point.outcome for point in found.curve if point.packets == found.chosen)
        broken = [each for outcome in at for each in outcome.broken_assumptions]
        notes = (self.description, *found.notes, *dict.fromkeys(broken))
        return found.model_copy(update={"notes": notes})

    @classmethod
    def of(cls, engine: LinksEngine) -> NetworkLinks:
        """Return the links that an engine sizes."""
        traffic = engine.traffic
        load = None if traffic is None else NetworkLoad(engine.scenario, traffic)
        return cls(engine.links.says, load)
