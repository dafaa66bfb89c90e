"""Arrays that a measuring engine's core hands over; `telling` names them.

The same shapes from the simulator (`_core.pyi`) and from the testbed's result file, so that one
function tells both. Histograms are (edges, counts).
"""

from __future__ import annotations

from typing import TypedDict

from forebay.outcome.reading import FloatArray, IntArray

RawHistogram = tuple[FloatArray, FloatArray]


class RawDetail(TypedDict):
    """Shape (bins,); total seconds and histogram of the lengths of busy and idle periods."""

    seen: IntArray
    busy: tuple[float, RawHistogram]
    idle: tuple[float, RawHistogram]


class RawLink(TypedDict):
    """Shapes (batches,), (batches, bins) and (batches, classes); detail only with a trace."""

    busy_s: FloatArray
    queue_packet_s: FloatArray
    delay_sum_s: FloatArray
    queue_s: FloatArray
    queue_bin_width: int
    delay: RawHistogram
    arrivals: IntArray
    drops: IntArray
    marks: IntArray
    sent_bytes: IntArray
    detail: RawDetail | None


class RawIncidents(TypedDict):
    """What happened since the sample before; shape (incidents,)."""

    at_s: FloatArray
    flow: IntArray
    count: IntArray


class RawTrace(TypedDict):
    """Shapes (samples,), (links, samples), (flows traced, samples) and (all flows,)."""

    at_s: FloatArray
    queue: IntArray
    window_sum: FloatArray
    in_avoidance: IntArray
    cwnd: FloatArray
    srtt_s: FloatArray
    state: IntArray
    window_mean: FloatArray
    window_variance: FloatArray
    drops: RawIncidents
    reductions: RawIncidents


class RawReadings(TypedDict):
    """Shapes (batches, classes) and (flows,)."""

    links: list[RawLink]
    sent: IntArray
    drops: IntArray
    delivered_bytes: IntArray
    timeouts: IntArray
    retransmissions: IntArray
    flow_bytes: IntArray
    rtt: list[RawHistogram]
    completions_s: list[FloatArray]
    trace: RawTrace | None
    packets: int
    events: int
    wall_s: float
