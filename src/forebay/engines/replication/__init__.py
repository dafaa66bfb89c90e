"""What all engines that run a workload share: the layout of links and the names of readings.

Nothing here simulates a packet or a window, because engines must stay independent.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS
from forebay.engines.replication import readings
from forebay.engines.replication.layout import Layout
from forebay.files.columns import BLOCK_ROWS
from forebay.outcome import Histogram, Reading, summarize
from forebay.outcome.metrics import goodput_bits
from forebay.outcome.model import FlowTable
from forebay.outcome.reading import IntArray, LinkReading
from forebay.outcome.trace import FlowTrace, Incidents, LinkTrace, Periods, Trace
from forebay.scenario import Duration, Scenario, ScenarioError, Tcp
from forebay.words import argument
from forebay.workload.model import Workload

CACHE_SIZE = 64
T = TypeVar("T")


class SeedCache(Generic[T]):
    """The latest results by scenario and seed, at most CACHE_SIZE of them.

    All take at most ``most_bytes``, but for the latest, which stays.
    """

    def __init__(self, most_bytes: float = math.inf) -> None:
        self._kept: dict[tuple[str, int], tuple[T, float]] = {}
        self._most = most_bytes

    @property
    def held_bytes(self) -> float:
        """Bytes of all of them."""
        return sum(octets for _, octets in self._kept.values())

    def known(self, scenario_sha256: str, seeds: Iterable[int]) -> dict[int, T]:
        """Return the stored results of these seeds."""
        keys = {seed: (scenario_sha256, seed) for seed in seeds}
        return {seed: self._kept[key][0] for seed, key in keys.items() if key in self._kept}

    def put(self, scenario_sha256: str, seed: int, result: T, octets: float = 0.0) -> None:
        """Store a result of about so many bytes; the oldest ones that do not fit are removed."""
        kept = self._kept
        kept[scenario_sha256, seed] = result, octets
        while len(kept) > 1 and (len(kept) > CACHE_SIZE or self.held_bytes > self._most):
            del kept[next(iter(kept))]

    def clear(self) -> None:
        """Remove all results."""
        self._kept.clear()


MOST_SAMPLES = 10_000_000


def to_trace(
    scenario: Scenario,
    layout: Layout,
    raw: readings.RawReadings,
    workload: Workload,
    watched: readings.Watched,
    seed: int,
) -> Trace:
    """Return the Trace of one replication that was sampled."""
    _, classes = summarize([readings.to_reading(scenario, seed, workload, layout, raw)], None)
    read = raw["trace"]
    assert read is not None, "asked for"
    links = readings.read_links(scenario, layout, raw)
    begin = float(scenario.measure.warmup)
    return Trace(
        scenario=scenario.to_dict(),
        seed=seed,
        step_s=float(watched.step_s),
        window_s=(begin, begin + scenario.measure.duration),
        round_trip_s=float(scenario.mean_rtt),
        at_s=read["at_s"],
        links={
            name: _link(reading, link, queue)
            for (name, reading), link, queue in zip(
                links.items(), raw["links"], read["queue"], strict=False
            )
        },
        flows={
            number: FlowTrace(
                cwnd_packets=read["cwnd"][row],
                srtt_s=np.where(srtt > 0.0, srtt, np.nan),
                state=read["state"][row],
            )
            for row, (number, srtt) in enumerate(zip(watched.flows, read["srtt_s"], strict=False))
        },
        window_sum_packets=read["window_sum"],
        in_avoidance=read["in_avoidance"],
        window_mean_packets=read["window_mean"],
        window_variance=read["window_variance"],
        drops=Incidents(**read["drops"]),
        reductions=Incidents(**read["reductions"]),
        unsettled={kind.name: kind.unsettled for kind in classes if kind.settled is not None},
    )


def check_step(scenario: Scenario, step: Duration) -> None:
    """Refuse a step that gives no sample, or too many."""
    least = max(scenario.measure.duration / MOST_SAMPLES, 1e-12)
    if not least <= step <= scenario.measure.duration:
        raise ScenarioError(
            "out-of-range.step", field=argument("step"), value=step, least=Duration(least),
            duration=scenario.measure.duration,
        )  # fmt: skip


def _link(reading: LinkReading, raw: readings.RawLink, queue: IntArray) -> LinkTrace:
    detail = raw["detail"]
    assert detail is not None, "asked for"
    queue_s = reading.queue_s.sum(axis=0)  # ends with the largest queue that occurred
    return LinkTrace(
        capacity_bps=reading.capacity_bps, buffer_packets=reading.buffer_packets,
        bdp_packets=reading.bdp_packets, queue_packets=queue, queue_step=reading.queue_step,
        queue_s=np.pad(queue_s, (0, max(0, len(detail["seen"]) - len(queue_s)))),
        seen=detail["seen"], delay=reading.delay,
        busy=_periods(*detail["busy"]), idle=_periods(*detail["idle"]),
        arrivals=raw["arrivals"].sum(axis=0), drops=raw["drops"].sum(axis=0),
        marks=raw["marks"].sum(axis=0),
    )  # fmt: skip


def _periods(total_s: float, raw: readings.RawHistogram) -> Periods:
    lengths = Histogram(*raw)
    return Periods(number=int(lengths.counts.sum()), total_s=total_s, lengths=lengths)


_PS_PER_S = 1e12
ROUTE_SEPARATOR = "; "
"""Between the names of the links of a route."""
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class FlowRows:
    """One replication's rows, which are made block by block: records take less memory.

    ``reading`` is that of the same run: the bytes of a class's rows are cut alike to its goodput.
    """

    scenario: Scenario
    seed: int
    workload: Workload
    layout: Layout
    records: readings.RawFlowRecords
    reading: Reading

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.records)

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks; without rows, one without rows."""
        for first in range(0, max(self.rows, 1), BLOCK_ROWS):
            raw = self.records.columns(first, first + BLOCK_ROWS)
            yield _to_table(self, raw)


def _to_table(of: FlowRows, raw: Columns) -> FlowTable:
    scenario, workload, layout = of.scenario, of.workload, of.layout
    flow = raw["flow"]
    group, packet = workload.traffic_class[flow], workload.packet_bytes[flow]
    # Of each class's in-order bytes, the share that its goodput counts.
    got = np.array([kind.goodput_bits.sum() for kind in of.reading.classes])
    counts = np.array([goodput_bits(kind).sum() for kind in of.reading.classes])
    share = np.divide(counts, got, out=np.ones(got.size), where=got > 0)
    counted = raw["window_bytes"] * share[group]
    tcp = np.array([isinstance(traffic, Tcp) for traffic in scenario.traffic])[group]
    ending = np.array([KINDS[traffic.kind].completes for traffic in scenario.traffic])
    has_end = (raw["segments"] >= 0) & ending[group]
    ideal = readings.ideal_s(layout, workload, raw)
    payload = np.array(
        [traffic.payload if isinstance(traffic, Tcp) else np.nan for traffic in scenario.traffic]
    )[group]
    took_s = raw["last_byte_s"] - raw["start_s"]
    controls = _texts([*workload.congestion_controls, ""])  # none of open-loop flows
    return FlowTable(
        {
            "seed": np.full(flow.size, of.seed, dtype=np.int64),
            "class": _texts(scenario.class_names)[group],
            "flow": flow,
            "transfer": raw["transfer"],
            "control": controls[np.where(tcp, workload.congestion_control[flow], -1)],
            "route": _routes(layout, flow, group),
            "rtt_s": np.where(tcp, workload.rtt_ps[flow] / _PS_PER_S, np.nan),
            "start_s": raw["start_s"],
            "size_bytes": np.where(has_end, raw["segments"] * packet.astype(np.float64), np.nan),
            "application_bytes": np.where(has_end, raw["segments"] * payload, np.nan),
            "first_byte_s": raw["first_byte_s"],
            "last_byte_s": np.where(has_end, raw["last_byte_s"], np.nan),
            "window_bytes": np.rint(counted).astype(np.int64),
            "segments_sent": raw["sent"],
            "segments_lost": raw["lost"],
            "segments_retransmitted": raw["retransmitted"],
            "timeouts": raw["timeouts"],
            "marks": raw["marks"],
            "min_rtt_s": raw["min_rtt_s"],
            "mean_rtt_s": raw["mean_rtt_s"],
            "unfinished": has_end & np.isnan(raw["last_byte_s"]),
            "ideal_s": np.where(has_end, ideal, np.nan),
            "slowdown": np.where(has_end, took_s / ideal, np.nan),
        }
    )


def _texts(values: Any) -> NDArray[np.object_]:
    return np.array([*values, ""], dtype=object)[:-1]


def _routes(layout: Layout, flow: IntArray, group: NDArray[np.int32]) -> NDArray[np.object_]:
    """Return the reported links that each flow's data crosses."""
    route = group if layout.flows is None else layout.flows.route[flow]
    used, place = np.unique(route, return_inverse=True)
    links = dict(enumerate(link.name for link in layout.links))
    ways = [layout.routes[number][0] for number in used.tolist()]
    names = [ROUTE_SEPARATOR.join(links[at] for at in way if at in links) for way in ways]
    return np.asarray(_texts(names)[place])
