"""From the simulator's arrays to the Reading that every measuring engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def _links(scenario: Scenario, raw: Readings) -> dict[str, LinkReading]:
    named = [(BOTTLENECK, scenario.link.rate, scenario.buffer_packets)]
    named += [(each.name, each.rate, scenario.queue_packets(each)) for each in scenario.links]
    return {
        name: _link(scenario, rate, packets, each)
        for (name, rate, packets), each in zip(named, raw["links"], strict=True)
    }


def _link(scenario: Scenario, rate: float, packets: int, raw: LinkReadings) -> LinkReading:
    return LinkReading(
        capacity_bps=rate,
        window_s=scenario.measure.duration,
        buffer_packets=packets,
        bdp_packets=scenario.bdp_packets * rate / scenario.link.rate,
        bits=raw["busy_s"] * rate,
        arrivals=raw["arrivals"].sum(axis=1),
        drops=raw["drops"].sum(axis=1),
        queue_packet_s=raw["queue_packet_s"],
        queue_s=raw["queue_s"],
        queue_step=raw["queue_bin_width"],
        delay=_histogram(raw["delay"]),
        delay_sum_s=raw["delay_sum_s"],
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
                rtt=_histogram(raw["rtt"][index]),
                fct_s=None if traffic.kind == "long" else raw["completions_s"][index],
            )
        )
        first = last
    return readings


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS


def _histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
