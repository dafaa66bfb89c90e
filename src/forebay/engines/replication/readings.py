"""Converts the arrays of an engine's core to the Reading of one replication.

The simulator (`_core.pyi`) and the testbed's result file give arrays of the same shapes, so one
function reads both. Histograms are (edges, counts). The measured window has BATCHES batches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import CONTROLS, KINDS
from forebay.engines.replication.ideal_times import slowdowns
from forebay.engines.replication.raw import RawLink, RawReadings
from forebay.outcome import (
    ClassReading,
    ControllerReading,
    Histogram,
    LinkReading,
    LongFlows,
    Reading,
    RoundTrips,
)
from forebay.outcome.reading import FloatArray, IntArray
from forebay.outcome.settling import models_settle_s
from forebay.scenario import Long, Requests, ScenarioError, Tcp

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout, LinkSpec
    from forebay.scenario import Scenario, Traffic
    from forebay.workload import Workload

BATCHES = 20
"""Batches of the measured window, for intervals from a single seed."""

_PICOSECONDS = 1e12
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
                numbers = f"different numbers from 0 to {flows - 1}" if flows else "none"
                hint = f"the run has {flows} flows: write {numbers}"
                wrong = f"flow {number} is not there, or there twice"
                raise ScenarioError("out-of-range", wrong, hint, field="flows", value=number)


def n_parts(scenario: Scenario) -> int:
    """Return the number of equal parts of the measured window that an engine reads separately.

    Raises
    ------
    ScenarioError
        The queue histograms of so many parts would not fit into memory.
    """
    number = BATCHES * _round_trips_a_batch(scenario)
    if number > BATCHES and number * min(scenario.buffer_packets, MOST_BINS) > _MOST_TO_READ:
        raise ScenarioError(
            "out-of-range",
            f"{number} round trips, each measured for a goal with a probability, are too many",
            "write a shorter one, or the goal without its probability",
            field="measure.duration",
        )
    return number


def _round_trips_a_batch(scenario: Scenario) -> int:
    """Return the number of RTTs in a batch; 1 if no goal needs single RTTs."""
    if not scenario.goals.need_round_trips or not scenario.mean_rtt:
        return 1
    return max(1, round(scenario.measure.duration / BATCHES / scenario.mean_rtt))


def picoseconds(seconds: float) -> int:
    """Return the nearest whole number of picoseconds."""
    return round(seconds * _PICOSECONDS)


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
    return {link.name: _link(scenario, link, each) for link, each in both}


def _link(scenario: Scenario, link: LinkSpec, raw: RawLink) -> LinkReading:
    rate = link.rate_bps
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
        most_packets=_most_packets(link, raw),
        queue_packet_s=_batch(raw["queue_packet_s"]),
        queue_s=_batch(raw["queue_s"]),
        queue_step=raw["queue_bin_width"],
        delay=to_histogram(raw["delay"]),
        delay_sum_s=_batch(raw["delay_sum_s"]),
        longest_s=raw["longest_s"],
        class_delays=_class_delays(len(scenario.traffic), raw),
        round_trips=_round_trips(rate, raw),
        marks=_batch(raw["marks"]).sum(axis=1),
        lost=None if link.loss is None else _batch(raw["lost"]),
        possible_bits=_possible_bits(scenario, link),
        burst_bits=link.burst_bits,
    )


def _possible_bits(scenario: Scenario, link: LinkSpec) -> FloatArray | None:
    if link.rate_trace is None:
        return None
    start, span = float(scenario.measure.warmup), float(scenario.measure.duration)
    ends = [start + span * batch / BATCHES for batch in range(BATCHES + 1)]
    return np.diff(np.array(link.rate_trace.bits(ends)))


def _class_delays(classes: int, raw: RawLink) -> list[Histogram]:
    """Return the delays by class; a class that does not cross the link has no delay."""
    if not raw["delays"]:
        return []
    delays = dict(zip(raw["classes"].tolist(), raw["delays"], strict=True))
    none = (np.zeros(1), np.zeros(0))
    return [to_histogram(delays.get(each, none)) for each in range(classes)]


def _most_packets(link: LinkSpec, raw: RawLink) -> int:
    """Return the most packets that may wait; a limit in bytes admits more small ones."""
    if not link.counts_bytes:
        return link.buffer_packets
    bins: int = raw["queue_s"].shape[1]
    return max(link.buffer_packets, bins * raw["queue_bin_width"] - 1)


def _round_trips(rate: float, raw: RawLink) -> RoundTrips | None:
    if raw["busy_s"].size == BATCHES:
        return None
    return RoundTrips(
        bits=raw["busy_s"].reshape(BATCHES, -1) * rate,
        arrivals=raw["arrivals"].sum(axis=1).reshape(BATCHES, -1),
        drops=raw["drops"].sum(axis=1).reshape(BATCHES, -1),
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
    delivered, drops, resent = _batch(raw["delivered_bytes"]), _batch(raw["drops"]), _resent(raw)
    passed, sent, timeouts = _batch(raw["passed"]), _batch(raw["sent"]), _batch(raw["timeouts"])
    active = _active(raw)
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
            rtt=to_histogram(raw["rtt"][index]) if isinstance(traffic, Tcp) else None,
            fct_s=_of_ending(traffic, raw["completions_s"][index]),
            unfinished_s=_of_ending(traffic, raw["unfinished_s"][index]),
            retransmissions=resent[:, index] if isinstance(traffic, Tcp) else None,
            controllers=_controllers(traffic, workload, raw, index, counted),
            long_flows=_long_flows(scenario, traffic),
            active=int(np.count_nonzero(active[own])),
            slowdowns=slowdowns(scenario, workload, layout, raw, index),
            **_requests(traffic, raw, index),
        )
        for index, traffic in enumerate(scenario.traffic)
        for own in (workload.slice_of(index),)
    ]


def _active(raw: RawReadings) -> NDArray[np.bool_]:
    """Return whether each flow sent in the window: a data packet of it has a reading there."""
    return (raw["flow_bytes"] + raw["flow_passed"] + raw["flow_drops"]) > 0


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


def _of_ending(traffic: Traffic, spans_s: FloatArray) -> FloatArray | None:
    return spans_s if KINDS[traffic.kind].completes else None


def _requests(traffic: Traffic, raw: RawReadings, index: int) -> dict[str, FloatArray]:
    if not isinstance(traffic, Requests):
        return {}
    return {
        "requests_s": raw["requests_s"][index],
        "unfinished_requests_s": raw["unfinished_requests_s"][index],
    }


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
    traffic: Traffic,
    workload: Workload,
    raw: RawReadings,
    index: int,
    counted: NDArray[np.bool_],
) -> dict[str, ControllerReading]:
    if not isinstance(traffic, Tcp):
        return {}
    own = workload.traffic_class == index
    # A listed transfer may have a control that the mix of its class does not.
    present = set(np.unique(workload.congestion_control[own]).tolist())
    names = [
        (number, name)
        for number, name in enumerate(workload.congestion_controls)
        if name in traffic.shares or number in present
    ]
    found = {}
    for number, name in names if len(names) > 1 else ():
        flows = own & (workload.congestion_control == number)
        found[name] = ControllerReading(
            flows=int(np.count_nonzero(flows)),
            flow_goodput_bits=_bits(raw["flow_bytes"][flows & counted]),
            drops=int(raw["flow_drops"][flows].sum()),
            passed=int(raw["flow_passed"][flows].sum()),
        )
    return found


def _bits(octets: IntArray) -> FloatArray:
    return octets.astype(np.float64) * _BITS


def _resent(raw: RawReadings) -> IntArray:
    return _batch(raw["retransmissions"])


def to_histogram(raw: tuple[FloatArray, FloatArray]) -> Histogram:
    """Convert (edges, counts) to a Histogram."""
    edges, counts = raw
    return Histogram(edges=edges, counts=counts)
