"""Which links there are, and over which of them each class's data and ACKs go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.scenario import BOTTLENECK

if TYPE_CHECKING:
    from forebay.scenario import Link, Queue, Scenario, Traffic

REVERSE = "reverse"
"""The bottleneck's other direction, where a class sends that way."""

Route = tuple[list[int], list[int]]

_PS_PER_S = 1e12


@dataclass(frozen=True, slots=True)
class LaidLink:
    """A link that is reported, and the queue before it, in the words of Linux.

    Attributes
    ----------
    rate_bps, delay_ps
        Capacity in bit/s; propagation in picoseconds.
    buffer_packets, packet_bytes
        Packets that may wait, and the packet that disciplines in bytes count by.
    discipline, parameters
        Linux name; what the scenario sets of it, in bytes, seconds, numbers and switches.
    """

    name: str
    rate_bps: float
    buffer_packets: int
    packet_bytes: int
    discipline: str
    transmit_ring: int
    delay_ps: int
    alpha: float | None
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Layout:
    """The network of a scenario.

    Attributes
    ----------
    links : list of LaidLink
        Those that are reported, the bottleneck first.
    routes : list of Route
        For each class, the links that its data crosses, and those that its ACKs cross.
    """

    links: list[LaidLink]
    routes: list[Route]

    @property
    def last_link(self) -> list[int]:
        """For each class, the last link that its data crosses."""
        return [forward[-1] for forward, _ in self.routes]


def lay_out(scenario: Scenario) -> Layout:
    """Return the network that `scenario` describes."""
    links = _links(scenario)
    index = {link.name: place for place, link in enumerate(links)}
    return Layout(links, [_route(group, index) for group in scenario.traffic])


def _links(scenario: Scenario) -> list[LaidLink]:
    bottleneck = (scenario.link, scenario.queue, scenario.buffer_packets)
    links = [_link(scenario, BOTTLENECK, *bottleneck)]
    links += [
        _link(scenario, each.name, each, each.queue, scenario.queue_packets(each))
        for each in scenario.links
    ]
    if any(group.direction == "reverse" for group in scenario.traffic):
        links.append(_link(scenario, REVERSE, *bottleneck))
    return links


def _link(scenario: Scenario, name: str, link: Link, queue: Queue, packets: int) -> LaidLink:
    return LaidLink(
        name=name,
        rate_bps=float(link.rate),
        buffer_packets=packets,
        packet_bytes=int(scenario.packet),
        discipline="pfifo" if queue.discipline == "drop-tail" else queue.discipline,
        transmit_ring=queue.transmit_ring,
        delay_ps=round(link.delay * _PS_PER_S),
        alpha=queue.alpha,
        parameters=queue.parameters,
    )


def _route(group: Traffic, index: dict[str, int]) -> Route:
    if group.direction == "reverse":
        return [index[REVERSE]], [index[BOTTLENECK]]
    forward = [index[name] for name in group.route] or [index[BOTTLENECK]]
    backward = [index[name] for name in group.return_route]
    if not backward and not group.route and REVERSE in index:
        backward = [index[REVERSE]]
    return forward, backward
