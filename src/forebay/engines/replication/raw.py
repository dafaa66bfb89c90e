"""What the core and the emulator hand to Python: arrays by name, before they are readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Protocol, TypedDict

from numpy.typing import NDArray

from forebay.outcome.reading import FloatArray, IntArray

RawHistogram = tuple[FloatArray, FloatArray]


class RawDetail(TypedDict):
    """Shape (bins,); total seconds and histogram of the lengths of busy and idle periods."""

    seen: IntArray
    busy: tuple[float, RawHistogram]
    idle: tuple[float, RawHistogram]


class RawLink(TypedDict):
    """Shapes (batches,), (batches, bins) and (batches, classes); detail only with a trace.

    ``classes`` are the traffic classes that the link counts separately, ascending: all, or if there
    are many, those that cross it.
    ``delays`` has a histogram for each class, only of the first link and with several classes.
    ``held``, shape (batches + 1,), are the packets before the wire at the window's start and at
    each batch's end; ``lost``, shape (batches,), the packets that the link itself lost.
    """

    busy_s: FloatArray
    queue_packet_s: FloatArray
    delay_sum_s: FloatArray
    queue_s: FloatArray
    queue_bin_width: int
    delay: RawHistogram
    classes: IntArray
    longest_s: float
    delays: list[RawHistogram]
    held: IntArray
    lost: IntArray
    arrivals: IntArray
    drops: IntArray
    marks: IntArray
    accepted: IntArray
    sent: IntArray
    sent_bytes: IntArray
    class_busy_s: FloatArray
    detail: RawDetail | None


class RawIncidents(TypedDict):
    """Events since the previous sample; shape (incidents,)."""

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


class RawFlowRecords(Protocol):
    """Records of flows, of which columns are made as they are needed: they take more memory.

    A column has shape (records,), flow by flow; NaN, and -1 for ``segments``, is what there was
    none of.
    """

    def __len__(self) -> int:
        """Return the number of records."""

    def columns(
        self, first: int = 0, end: int | None = None, names: Sequence[str] | None = None
    ) -> Mapping[str, NDArray[Any]]:
        """Return the columns, or those of ``names``, of the records from first to before end."""


class RawReadings(TypedDict):
    """Shapes (batches, classes) and (flows,). ``flow_records``: `RawFlowRecords`, or None."""

    links: list[RawLink]
    sent: IntArray
    drops: IntArray
    passed: IntArray
    delivered_bytes: IntArray
    timeouts: IntArray
    retransmissions: IntArray
    flow_bytes: IntArray
    flow_drops: IntArray
    flow_passed: IntArray
    rtt: list[RawHistogram]
    completions_s: list[FloatArray]
    unfinished_s: list[FloatArray]
    requests_s: NotRequired[list[FloatArray]]
    unfinished_requests_s: NotRequired[list[FloatArray]]
    trace: RawTrace | None
    flow_records: NotRequired[Any]
    packets: int
    events: int
    wall_s: float
