"""From the simulator's arrays to the Reading that every measuring engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.outcome import ClassReading, Histogram, LinkReading, Reading
from forebay.scenario import Session, Short, Tcp

if TYPE_CHECKING:
    from forebay._core import LinkReadings, Readings
    from forebay.engines.simulation.layout import Layout
    from forebay.outcome.reading import FloatArray, IntArray
    from forebay.scenario import Scenario
    from forebay.workload import Workload

_BITS = 8.0


def to_reading(
    scenario: Scenario, seed: int, workload: Workload, layout: Layout, raw: Readings
) -> Reading:
    """Name what one replication read."""
    return Reading(
        seed=seed,
        links=_links(scenario, layout, raw),
        classes=_classes(scenario, workload, layout, raw),
        packets=raw["packets"],
        cpu_s=raw["wall_s"],
    )


def _links(scenario: Scenario, layout: Layout, raw: Readings) -> dict[str, LinkReading]:
    named = zip(layout.names, layout.rates, layout.buffers, raw["links"], strict=False)
    return {name: _link(scenario, rate, packets, each) for name, rate, packets, each in named}


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


def _classes(
    scenario: Scenario, workload: Workload, layout: Layout, raw: Readings
) -> list[ClassReading]:
    return [
        ClassReading(
            kind=traffic.kind,
            flows=workload.flows_of(index),
            throughput_bits=_bits(raw["links"][layout.last_link[index]]["sent_bytes"][:, index]),
            goodput_bits=_bits(raw["delivered_bytes"][:, index]),
            arrivals=raw["sent"][:, index],
            drops=raw["drops"][:, index],
            timeouts=raw["timeouts"][:, index],
            flow_goodput_bits=_bits(raw["flow_bytes"][workload.traffic_class == index]),
            rtt=_histogram(raw["rtt"][index]) if isinstance(traffic, Tcp) else None,
            fct_s=raw["completions_s"][index] if isinstance(traffic, Short | Session) else None,
        )
        for index, traffic in enumerate(scenario.traffic)
    ]


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS


def _histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
