"""From the simulator's arrays to the Reading that every measuring engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forebay.outcome import ClassReading, Histogram, LinkReading, Reading
from forebay.scenario import BOTTLENECK

if TYPE_CHECKING:
    from forebay._core import LinkReadings, Readings
    from forebay.outcome.reading import FloatArray, IntArray
    from forebay.scenario import Scenario

_BITS = 8.0


def to_reading(scenario: Scenario, seed: int, raw: Readings) -> Reading:
    """Name what one replication read."""
    return Reading(
        seed=seed,
        links=_links(scenario, raw),
        classes=_classes(scenario, raw),
        packets=raw["packets"],
        cpu_s=raw["wall_s"],
    )


class LinkFacts(NamedTuple):
    """What a scenario says of a link, in the order of the simulator's links."""

    name: str
    rate_bps: float
    buffer_packets: int
    bdp_packets: float


def links_of(scenario: Scenario) -> list[LinkFacts]:
    """List the link under study first, then the further ones in their order."""
    named = [(BOTTLENECK, scenario.link.rate, scenario.buffer_packets)]
    named += [(each.name, each.rate, scenario.queue_packets(each)) for each in scenario.links]
    per_rate = scenario.bdp_packets / scenario.link.rate
    return [LinkFacts(name, rate, packets, per_rate * rate) for name, rate, packets in named]


def _links(scenario: Scenario, raw: Readings) -> dict[str, LinkReading]:
    pairs = zip(links_of(scenario), raw["links"], strict=True)
    return {facts.name: _link(scenario, facts, each) for facts, each in pairs}


def _link(scenario: Scenario, facts: LinkFacts, raw: LinkReadings) -> LinkReading:
    return LinkReading(
        capacity_bps=facts.rate_bps,
        window_s=scenario.measure.duration,
        buffer_packets=facts.buffer_packets,
        bdp_packets=facts.bdp_packets,
        bits=raw["busy_s"] * facts.rate_bps,
        arrivals=raw["arrivals"].sum(axis=1),
        drops=raw["drops"].sum(axis=1),
        queue_packet_s=raw["queue_packet_s"],
        queue_s=raw["queue_s"],
        queue_step=raw["queue_bin_width"],
        delay=to_histogram(raw["delay"]),
        delay_sum_s=raw["delay_sum_s"],
        marks=raw["marks"].sum(axis=1),
    )


def _classes(scenario: Scenario, raw: Readings) -> list[ClassReading]:
    first, readings = 0, []
    for index, traffic in enumerate(scenario.traffic):
        last = first + traffic.flows
        readings.append(
            ClassReading(
                kind=traffic.kind,
                flows=traffic.flows,
                throughput_bits=_bits(raw["links"][0]["sent_bytes"][:, index]),
                goodput_bits=_bits(raw["delivered_bytes"][:, index]),
                arrivals=raw["sent"][:, index],
                drops=raw["drops"][:, index],
                timeouts=raw["timeouts"][:, index],
                flow_goodput_bits=_bits(raw["flow_bytes"][first:last]),
                rtt=to_histogram(raw["rtt"][index]),
                fct_s=None if traffic.kind == "long" else raw["completions_s"][index],
                retransmissions=raw["retransmissions"][:, index],
            )
        )
        first = last
    return readings


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS


def to_histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    """Name edges and counts."""
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
