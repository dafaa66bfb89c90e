"""From the simulator's arrays to the Reading that every measuring engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import ClassReading, Histogram, LinkReading, Reading

if TYPE_CHECKING:
    from forebay._core import Readings
    from forebay.outcome.reading import FloatArray
    from forebay.scenario import Scenario

_BITS = 8.0


def to_reading(scenario: Scenario, seed: int, raw: Readings) -> Reading:
    """Name what one replication read."""
    return Reading(
        seed=seed,
        links={"bottleneck": _link(scenario, raw)},
        classes=_classes(scenario, raw),
        packets=raw["packets"],
        cpu_s=raw["wall_s"],
    )


def _link(scenario: Scenario, raw: Readings) -> LinkReading:
    return LinkReading(
        capacity_bps=scenario.link.rate,
        window_s=scenario.measure.duration,
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
        bits=raw["busy_s"] * scenario.link.rate,
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
                throughput_bits=raw["sent_bytes"][:, index] * _BITS,
                goodput_bits=raw["delivered_bytes"][:, index] * _BITS,
                arrivals=raw["arrivals"][:, index],
                drops=raw["drops"][:, index],
                timeouts=raw["timeouts"][:, index],
                flow_goodput_bits=raw["flow_bytes"][first:last] * _BITS,
                rtt=_histogram(raw["rtt"][index]),
                fct_s=None if traffic.kind == "long" else raw["completions_s"][index],
            )
        )
        first = last
    return readings


def _histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
