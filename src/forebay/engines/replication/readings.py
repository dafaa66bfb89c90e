"""Converts the arrays of an engine's core to the Reading of one replication.

The simulator (`_core.pyi`) and the testbed's result file give arrays of the same shapes, so one
function reads both. Histograms are (edges, counts). The measured window has BATCHES batches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, Protocol, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import CONTROLS, KINDS
from forebay.outcome import ClassReading, ControllerReading, Histogram, LinkReading, LongFlows
from forebay.outcome.reading import FloatArray, IntArray, Reading, RoundTrips, Slowdowns
from forebay.outcome.settling import models_settle_s
from forebay.scenario import Long, Requests, Scenario, ScenarioError, Tcp, Traffic
from forebay.scenario.rate_trace import RateTrace
from forebay.words import argument
from forebay.workload import Workload

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout, LinkSpec

_PS_PER_S = 1e12
NEEDED = ("flow", "start_s", "segments", "ideal_s")
"""Columns of records that `ideal_s` reads."""


def ideal_s(layout: Layout, workload: Workload, raw: Mapping[str, NDArray[Any]]) -> FloatArray:
    """Return the time of each record.

    The core's has the mean rate of a link that varies, and the shaper's rate for every packet. No
    network has either.
    """
    ideal = raw["ideal_s"]
    if layout.flows is not None or not any(map(_is_unlike_a_wire, layout.links)):
        return ideal
    ideal, flow = ideal.copy(), raw["flow"]
    group = workload.traffic_class[flow]
    for index, (forward, _) in enumerate(layout.routes):
        links = [layout.links[place] for place in forward]
        mine = (group == index) & (raw["segments"] > 0)
        if not any(map(_is_unlike_a_wire, links)) or not mine.any():
            continue
        bits = 8.0 * workload.packet_bytes[flow[mine]]
        access = bits / workload.access_bps[flow[mine]]
        of_records = (raw[name][mine] for name in ("start_s", "segments", "ideal_s"))
        ideal[mine] = _on_route(links, bits, access, *of_records)
    return ideal


def slowdowns(
    scenario: Scenario, workload: Workload, layout: Layout, raw: RawReadings, index: int
) -> Slowdowns | None:
    """Return the slowdowns of a class whose transfers end; None without records."""
    records = raw.get("flow_records")
    if records is None or not KINDS[scenario.traffic[index].kind].completes:
        return None
    begin, span = float(scenario.measure.warmup), float(scenario.measure.duration)
    columns = records.columns(names=(*NEEDED, "last_byte_s"))
    mine = (workload.traffic_class[columns["flow"]] == index) & (columns["segments"] > 0)
    mine &= (columns["start_s"] >= begin) | np.isnan(columns["last_byte_s"])
    own = {name: column[mine] for name, column in columns.items()}
    open_ = np.isnan(own["last_byte_s"])
    took = np.where(open_, begin + span, own["last_byte_s"]) - own["start_s"]
    sizes = own["segments"] * workload.packet_bytes[own["flow"]]
    return Slowdowns(
        size_bytes=sizes.astype(np.float64),
        slowdown=took / ideal_s(layout, workload, own),
        unfinished=open_.astype(np.int64),
    )


def _on_route(
    links: Sequence[LinkSpec],
    bits: FloatArray,
    access: FloatArray,
    start: FloatArray,
    packets: FloatArray,
    at_mean: FloatArray,
) -> FloatArray:
    """Return the longest of what the highest rates allow, each trace and each shaper."""
    mean = [access, *(bits / link.rate_bps for link in links)]
    wires = [link.wire_bps if link.rate_trace is None else None for link in links]
    highest = [wire or link.highest_bps for wire, link in zip(wires, links, strict=True)]
    best = [access, *(bits / rate for rate in highest)]
    propagation = at_mean - _pipelined(mean, packets)
    longest = propagation + _pipelined(best, packets)
    before = 0.0 * start  # it starts when its first packet reaches the first queue
    for place, link in enumerate(links):
        after = sum(best[place + 2 :], access)
        delays = sum(earlier.delay_ps for earlier in links[:place]) / _PS_PER_S
        if link.rate_trace is not None:
            took = _ends(link.rate_trace, start + before, packets * bits) - start
            longest = np.maximum(longest, took + after + propagation - delays)
        if link.shaper is not None:
            # A shaper lets its bucket pass at the wire's rate, or one packet without a bucket.
            burst = (
                bits if link.shaper["refill"] == "deficit" else np.full_like(bits, link.burst_bits)
            )
            tokens = np.maximum(0.0, packets * bits - burst) / link.rate_bps
            passed = before + tokens + best[place + 1]
            longest = np.maximum(longest, passed + after + propagation - delays)
        before = before + best[place + 1] + link.delay_ps / _PS_PER_S
    return longest


def _is_unlike_a_wire(link: LinkSpec) -> bool:
    return link.rate_trace is not None or link.shaper is not None


def _pipelined(times: Sequence[FloatArray], packets: FloatArray) -> FloatArray:
    """Return the way of the first packet, and the others behind it at the slowest place."""
    rows = np.array(times)
    return np.asarray(rows.sum(axis=0) + (packets - 1) * rows.max(axis=0))


def _ends(trace: RateTrace, start: FloatArray, bits: FloatArray) -> FloatArray:
    """Return when a trace has let so many bits pass from each start on."""
    starts, rates = (np.array(column, dtype=float) for column in zip(*trace.rates, strict=True))
    length = trace.length_s
    sums = np.concatenate([[0.0], np.cumsum(rates * np.diff(np.append(starts, length)))])
    periods, within = np.divmod(start, length) if trace.repeat else (0.0 * start, start)
    step = np.searchsorted(starts, within, side="right") - 1
    target = sums[step] + rates[step] * (within - starts[step]) + bits
    more = np.ceil(target / sums[-1]) - 1.0 if trace.repeat else 0.0 * target
    rest = target - more * sums[-1]
    last = np.maximum(np.searchsorted(sums[:-1], rest, side="left") - 1, 0)
    took = starts[last] + (rest - sums[last]) / rates[last]
    return np.asarray((periods + more) * length + took)


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


BATCHES = 20
"""Batches of the measured window, for intervals from a single seed."""

MOST_BINS = 4096
"""Maximum number of bins of a link's queue histogram."""
_MOST_TO_READ = 100_000_000  # bins in all, 8 bytes each


class Watched(NamedTuple):
    """What to sample: the step, and the flows."""

    step_s: float
    flows: tuple[int, ...]

    def check(self, flows: int) -> None:
        """Refuse flow numbers that do not exist or are given twice."""
        for number in self.flows:
            if not 0 <= number < flows or self.flows.count(number) > 1:
                raise ScenarioError(
                    "out-of-range.flow", field=argument("flows"), value=number, flows=flows,
                    last=flows - 1, some=flows > 0,
                )  # fmt: skip


def n_parts(scenario: Scenario) -> int:
    """Return the number of equal parts of the measured window that an engine reads separately.

    Raises ScenarioError: the queue histograms of so many parts would not fit into memory.
    """
    number = BATCHES
    if scenario.goals.need_round_trips and scenario.mean_rtt:
        number *= max(1, round(scenario.measure.duration / BATCHES / scenario.mean_rtt))
    if number > BATCHES and number * min(scenario.buffer_packets, MOST_BINS) > _MOST_TO_READ:
        raise ScenarioError("out-of-range.round-trips", field="measure.duration", trips=number)
    return number


def picoseconds(seconds: float) -> int:
    """Return the nearest whole number of picoseconds."""
    return round(seconds * _PS_PER_S)


Number = TypeVar("Number", np.float64, np.int64)

_BITS = 8.0


def to_reading(
    scenario: Scenario,
    seed: int,
    workload: Workload,
    layout: Layout,
    raw: RawReadings,
    *,
    handshakes: bool = False,
) -> Reading:
    """Return the Reading of one replication.

    With ``handshakes`` the links carry packets without data too, such as a SYN.
    """
    return Reading(
        seed=seed,
        links=read_links(scenario, layout, raw),
        classes=_classes(scenario, workload, layout, raw),
        packets=raw["packets"],
        cpu_s=raw["wall_s"],
        links_tell_all=len(raw["links"]) == len(layout.links)
        and not any(backward for _, backward in layout.routes),
        handshakes=handshakes,
    )


def read_links(scenario: Scenario, layout: Layout, raw: RawReadings) -> dict[str, LinkReading]:
    """Return the readings of the reported links."""
    # Links after the reported ones belong to the engine: shared access links.
    both = zip(layout.links, raw["links"], strict=False)
    return {link.name: _link(scenario, link, counters) for link, counters in both}


def _link(scenario: Scenario, link: LinkSpec, raw: RawLink) -> LinkReading:
    rate, round_trips, possible_bits = link.rate_bps, None, None
    most_packets, class_delays = link.buffer_packets, []
    if link.counts_bytes:  # a limit in bytes admits more small packets
        most = raw["queue_s"].shape[1] * raw["queue_bin_width"] - 1
        most_packets = max(most_packets, most)
    if raw["delays"]:  # a class that does not cross the link has no delay
        delays = dict(zip(raw["classes"].tolist(), raw["delays"], strict=True))
        none = (np.zeros(1), np.zeros(0))
        every = range(len(scenario.traffic))
        class_delays = [Histogram(*delays.get(index, none)) for index in every]
    if raw["busy_s"].size != BATCHES:
        round_trips = RoundTrips(
            bits=raw["busy_s"].reshape(BATCHES, -1) * rate,
            arrivals=raw["arrivals"].sum(axis=1).reshape(BATCHES, -1),
            drops=raw["drops"].sum(axis=1).reshape(BATCHES, -1),
        )
    if link.rate_trace is not None:
        start, span = float(scenario.measure.warmup), float(scenario.measure.duration)
        ends = [start + span * batch / BATCHES for batch in range(BATCHES + 1)]
        possible_bits = np.diff(np.array(link.rate_trace.bits(ends)))
    return LinkReading(
        capacity_bps=rate,
        window_s=scenario.measure.duration,
        buffer_packets=link.buffer_packets,
        bdp_packets=link.bdp_packets,
        bits=_batch(raw["busy_s"]) * rate,
        arrivals=_batch(raw["arrivals"]).sum(axis=1),
        drops=_batch(raw["drops"]).sum(axis=1),
        accepted=_batch(raw["accepted"]).sum(axis=1),
        sent=_batch(raw["sent"]).sum(axis=1),
        held=raw["held"][:: len(raw["busy_s"]) // BATCHES],
        most_packets=most_packets,
        queue_packet_s=_batch(raw["queue_packet_s"]),
        queue_s=_batch(raw["queue_s"]),
        queue_step=raw["queue_bin_width"],
        delay=Histogram(*raw["delay"]),
        delay_sum_s=_batch(raw["delay_sum_s"]),
        longest_s=raw["longest_s"],
        class_delays=class_delays,
        round_trips=round_trips,
        marks=_batch(raw["marks"]).sum(axis=1),
        lost=None if link.loss is None else _batch(raw["lost"]),
        possible_bits=possible_bits,
        burst_bits=link.burst_bits,
    )


def _batch(parts: NDArray[Number]) -> NDArray[Number]:
    """Add up the parts of each batch."""
    if parts.shape[0] == BATCHES:
        return parts
    return np.asarray(parts.reshape(BATCHES, -1, *parts.shape[1:]).sum(axis=1), parts.dtype)


def _classes(
    scenario: Scenario, workload: Workload, layout: Layout, raw: RawReadings
) -> list[ClassReading]:
    last_link = [] if layout.flows else layout.last_link
    names = scenario.class_names
    by_class = (raw["delivered_bytes"], raw["drops"], raw["passed"], raw["sent"], raw["timeouts"])
    delivered, drops, passed, sent, timeouts = map(_batch, by_class)
    resent = _batch(raw["retransmissions"])
    # A flow sent in the window if a data packet of it has a reading there.
    active = (raw["flow_bytes"] + raw["flow_passed"] + raw["flow_drops"]) > 0
    counted = active | _had_to_send(scenario, workload)
    return [
        ClassReading(
            name=names[index],
            kind=traffic.kind,
            flows=workload.flows_of(index),
            link="" if layout.flows else layout.links[last_link[index]].name,
            throughput_bits=_on_last_link(raw, layout, last_link, index),
            goodput_bits=_bits(delivered[:, index]),
            drops=drops[:, index],
            passed=passed[:, index],
            sent=sent[:, index],
            timeouts=timeouts[:, index],
            flow_goodput_bits=_bits(raw["flow_bytes"][own][counted[own]]),
            rtt=Histogram(*raw["rtt"][index]) if isinstance(traffic, Tcp) else None,
            fct_s=raw["completions_s"][index] if KINDS[traffic.kind].completes else None,
            unfinished_s=raw["unfinished_s"][index] if KINDS[traffic.kind].completes else None,
            retransmissions=resent[:, index] if isinstance(traffic, Tcp) else None,
            controllers=_controllers(traffic, workload, raw, index, counted),
            long_flows=_long_flows(scenario, traffic),
            active=int(np.count_nonzero(active[own])),
            slowdowns=slowdowns(scenario, workload, layout, raw, index),
            requests_s=raw["requests_s"][index] if asks else None,
            unfinished_requests_s=raw["unfinished_requests_s"][index] if asks else None,
        )
        for index, traffic in enumerate(scenario.traffic)
        for own, asks in ((workload.slice_of(index), isinstance(traffic, Requests)),)
    ]


def _had_to_send(scenario: Scenario, workload: Workload) -> NDArray[np.bool_]:
    """Return whether each flow lasts through the window: without goodput it is starved."""
    lasts = np.array([KINDS[traffic.kind].lasts for traffic in scenario.traffic])
    measure = scenario.measure
    begin, end = picoseconds(measure.warmup), picoseconds(measure.warmup + measure.duration)
    if workload.periods is not None:
        whole = (workload.periods.on_ps < begin) & (workload.periods.off_ps >= end)
        had = np.bincount(workload.periods.owner[whole], minlength=len(workload)) > 0
        return np.asarray(lasts[workload.traffic_class] & had)
    stays = True if workload.stop_ps is None else workload.stop_ps >= end
    return np.asarray(lasts[workload.traffic_class] & (workload.start_ps < begin) & stays)


def _on_last_link(raw: RawReadings, layout: Layout, last_link: list[int], index: int) -> FloatArray:
    """Return the bits of a class on the wire of the last link that it crosses.

    A network's class ends on many links, some of them hosts' own. Its bits are the delivered ones.
    """
    if layout.flows:
        return _bits(_batch(raw["delivered_bytes"])[:, index])
    place = last_link[index]
    link = raw["links"][place]
    column = int(np.searchsorted(link["classes"], index))  # may list only classes that cross it
    busy_s = _batch(link["class_busy_s"][:, column])
    return np.asarray(busy_s * layout.links[place].rate_bps)


def _long_flows(scenario: Scenario, traffic: Traffic) -> LongFlows | None:
    if not isinstance(traffic, Long):
        return None
    model_based = [CONTROLS[name].is_model_based for name, part in traffic.shares.items() if part]
    window = math.inf if traffic.max_window is None else float(traffic.max_window)
    return LongFlows(
        loss_based=not all(model_based),
        model_based=any(model_based),
        most_bps=traffic.access_links * traffic.access(scenario.link.capacity),
        window_bits=_BITS * traffic.flows * window * traffic.packet,
        early=float(scenario.measure.warmup) < models_settle_s(traffic),
    )


def _controllers(
    traffic: Traffic, workload: Workload, raw: RawReadings, index: int, counted: NDArray[np.bool_]
) -> dict[str, ControllerReading]:
    if not isinstance(traffic, Tcp):
        return {}
    own = workload.traffic_class == index
    by_name = {}
    for number, name in enumerate(workload.congestion_controls):
        flows = own & (workload.congestion_control == number)
        # A listed transfer may have a control that the mix of its class does not.
        if name in traffic.shares or flows.any():
            by_name[name] = ControllerReading(
                flows=int(np.count_nonzero(flows)),
                flow_goodput_bits=_bits(raw["flow_bytes"][flows & counted]),
                drops=int(raw["flow_drops"][flows].sum()),
                passed=int(raw["flow_passed"][flows].sum()),
            )
    return by_name if len(by_name) > 1 else {}


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS
