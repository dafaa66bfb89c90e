"""From an engine's arrays to the Reading that every measuring engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from forebay.outcome import ClassReading, Histogram, LinkReading, Reading, RoundTrips
from forebay.replication.window import BATCHES
from forebay.scenario import Session, Short, Tcp

if TYPE_CHECKING:
    from forebay.outcome.reading import FloatArray, IntArray
    from forebay.replication.layout import LaidLink, Layout
    from forebay.replication.raw import RawLink, RawReadings
    from forebay.scenario import Scenario
    from forebay.workload import Workload

Number = TypeVar("Number", np.float64, np.int64)

_BITS = 8.0


def to_reading(
    scenario: Scenario, seed: int, workload: Workload, layout: Layout, raw: RawReadings
) -> Reading:
    """Name what one replication read."""
    return Reading(
        seed=seed,
        links=read_links(scenario, layout, raw),
        classes=_classes(scenario, workload, layout, raw),
        packets=raw["packets"],
        cpu_s=raw["wall_s"],
    )


def read_links(scenario: Scenario, layout: Layout, raw: RawReadings) -> dict[str, LinkReading]:
    """Name what one replication read of the links that are reported."""
    # Links after those that are reported are the engine's own: shared access links.
    both = zip(layout.links, raw["links"], strict=False)
    return {link.name: _link(scenario, link, each) for link, each in both}


def _link(scenario: Scenario, link: LaidLink, raw: RawLink) -> LinkReading:
    rate = link.rate_bps
    return LinkReading(
        capacity_bps=rate,
        window_s=scenario.measure.duration,
        buffer_packets=link.buffer_packets,
        bdp_packets=scenario.bdp_packets * rate / scenario.link.rate,
        bits=_batch(raw["busy_s"]) * rate,
        arrivals=_batch(raw["arrivals"]).sum(axis=1),
        drops=_batch(raw["drops"]).sum(axis=1),
        queue_packet_s=_batch(raw["queue_packet_s"]),
        queue_s=_batch(raw["queue_s"]),
        queue_step=raw["queue_bin_width"],
        delay=to_histogram(raw["delay"]),
        delay_sum_s=_batch(raw["delay_sum_s"]),
        round_trips=_round_trips(rate, raw),
        marks=_batch(raw["marks"]).sum(axis=1),
    )


def _round_trips(rate: float, raw: RawLink) -> RoundTrips | None:
    if raw["busy_s"].size == BATCHES:
        return None
    return RoundTrips(
        bits=raw["busy_s"].reshape(BATCHES, -1) * rate,
        arrivals=raw["arrivals"].sum(axis=1).reshape(BATCHES, -1),
        drops=raw["drops"].sum(axis=1).reshape(BATCHES, -1),
    )


def _batch(parts: NDArray[Number]) -> NDArray[Number]:
    """Add up what was read of the parts of each batch."""
    if parts.shape[0] == BATCHES:
        return parts
    return np.asarray(parts.reshape(BATCHES, -1, *parts.shape[1:]).sum(axis=1), parts.dtype)


def _classes(
    scenario: Scenario, workload: Workload, layout: Layout, raw: RawReadings
) -> list[ClassReading]:
    return [
        ClassReading(
            kind=traffic.kind,
            flows=workload.flows_of(index),
            throughput_bits=_bits(_batch(_last(raw, layout, index))[:, index]),
            goodput_bits=_bits(_batch(raw["delivered_bytes"])[:, index]),
            arrivals=_batch(raw["sent"])[:, index],
            drops=_batch(raw["drops"])[:, index],
            timeouts=_batch(raw["timeouts"])[:, index],
            flow_goodput_bits=_bits(raw["flow_bytes"][workload.traffic_class == index]),
            rtt=to_histogram(raw["rtt"][index]) if isinstance(traffic, Tcp) else None,
            fct_s=raw["completions_s"][index] if isinstance(traffic, Short | Session) else None,
            retransmissions=_resent(raw)[:, index] if isinstance(traffic, Tcp) else None,
        )
        for index, traffic in enumerate(scenario.traffic)
    ]


def _last(raw: RawReadings, layout: Layout, index: int) -> IntArray:
    """Return the bytes sent on the last link that a class crosses."""
    return raw["links"][layout.last_link[index]]["sent_bytes"]


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS


def _resent(raw: RawReadings) -> IntArray:
    return _batch(raw["retransmissions"])


def to_histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    """Name edges and counts."""
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
