"""A trace of one replication over time.

Synchronization of flows, and the distribution of the sum of their windows.

Pure functions on arrays; docs/reference/readings.md contains the definitions.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, computed_field, model_validator

from forebay.files.atomic import replacing
from forebay.outcome.document import Bins, Closed, Document, Floats, Ints, WithArrays, alike
from forebay.outcome.reading import FloatArray, Histogram, IntArray
from forebay.outcome.statistics import of_histogram

ROBUST_MINIMUM = 0.05
"""The quantile that serves as a "robust minimum"."""


@dataclass(frozen=True, slots=True)
class NormalFit:
    """A sample compared with the normal distribution of the same mean and standard deviation.

    Attributes
    ----------
    mean, standard_deviation : of the sample, in its unit.
    kolmogorov_smirnov : largest distance between the two distribution functions, 0 to 1.
    skewness, excess_kurtosis : third and fourth standardized moments; 0 for a normal sample.
    """

    mean: float
    standard_deviation: float
    kolmogorov_smirnov: float
    skewness: float
    excess_kurtosis: float


@dataclass(frozen=True, slots=True, eq=False)
class CongestionEvents:
    """Rounds of loss.

    Attributes
    ----------
    opened_s : FloatArray, shape (events,)
        When each event's first drop was seen.
    reduced_fraction : FloatArray, shape (events,)
        Distinct flows that cut their windows for a drop of the event, over all flows.
    hit_fraction : FloatArray, shape (events,)
        Distinct flows that lost a packet in the event, over all flows.
    """

    opened_s: FloatArray
    reduced_fraction: FloatArray
    hit_fraction: FloatArray


def synchronization_index(window_sum: FloatArray, window_variance: FloatArray) -> float | None:
    """Variance of the sum of the windows over the sum of the windows' variances.

    It is 1 for independent windows, n for n synchronized windows, and less than 1 for negatively
    correlated ones. Equal variances give 1 + (n - 1) r, where r is the mean correlation of two
    windows. It is None if no window varies.

    Parameters
    ----------
    window_sum : shape (samples,)
    window_variance : shape (flows,), each over the same samples
    """
    apart = float(np.sum(window_variance))
    return float(np.var(window_sum)) / apart if apart > 0.0 else None


def fit_normal(sample: FloatArray) -> NormalFit | None:
    """Fit a normal distribution to ``sample`` (shape (samples,)); None if it is constant."""
    if sample.size < 2 or np.ptp(sample) == 0.0:
        return None
    mean, deviation = float(np.mean(sample)), float(np.std(sample))
    standardized = (sample - mean) / deviation
    values, counts = np.unique(standardized, return_counts=True)
    upper = np.cumsum(counts) / standardized.size
    lower = np.concatenate(([0.0], upper[:-1]))
    expected = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in values])
    apart = np.maximum(np.abs(upper - expected), np.abs(lower - expected))
    return NormalFit(
        mean=mean,
        standard_deviation=deviation,
        kolmogorov_smirnov=float(np.max(apart)),
        skewness=float(np.mean(standardized**3)),
        excess_kurtosis=float(np.mean(standardized**4)) - 3.0,
    )


def robust_minimum(sample: IntArray) -> float | None:
    """Return the 5 % quantile as a robust minimum; None for an empty sample."""
    if sample.size == 0:
        return None
    return float(np.quantile(sample, ROBUST_MINIMUM, method="inverted_cdf"))


def congestion_events(
    drops: tuple[FloatArray, IntArray],
    reductions: tuple[FloatArray, IntArray],
    *,
    flows: int,
    length_s: float,
    window_s: tuple[float, float],
) -> CongestionEvents:
    """Group drops into events, and find the flows that cut their windows for them.

    An event starts with a drop and includes every drop less than ``length_s`` after it. This is
    one round trip, before which senders do not detect the loss. The next drop starts the next
    event. (With hundreds of flows on a link, a rule based on pauses would give one endless event.)
    A cut belongs to the event of its flow's latest drop. Events that start within one length of
    the window's begin or two of its end are excluded, because part of them is outside.

    Parameters
    ----------
    drops, reductions : times in seconds, in order, and flow numbers
    flows : number of flows, at least one
    length_s : see above
    window_s : begin and end of the readings
    """
    opened, event = _events(drops[0], length_s)
    blamed = _blame(drops, reductions, event)
    whole = (opened >= window_s[0] + length_s) & (opened < window_s[1] - 2.0 * length_s)
    return CongestionEvents(
        opened_s=opened[whole],
        reduced_fraction=_distinct(blamed, reductions[1], opened.size)[whole] / flows,
        hit_fraction=_distinct(event, drops[1], opened.size)[whole] / flows,
    )


def _events(at_s: FloatArray, length_s: float) -> tuple[FloatArray, IntArray]:
    """Start times of events, and the event of each drop."""
    starts, here = [], 0
    while here < at_s.size:
        starts.append(here)
        after = int(np.searchsorted(at_s, at_s[here] + length_s * (1.0 - 1e-9), side="left"))
        here = max(after, here + 1)
    first = np.array(starts, dtype=np.int64)
    return at_s[first], np.searchsorted(first, np.arange(at_s.size), side="right") - 1


def _blame(
    drops: tuple[FloatArray, IntArray], reductions: tuple[FloatArray, IntArray], event: IntArray
) -> IntArray:
    """Event of the latest drop of each cut's flow at or before the cut; -1 if there is none."""
    order = np.lexsort((drops[0], drops[1]))
    at, flow, event = drops[0][order], drops[1][order], event[order]
    begin = np.searchsorted(flow, reductions[1], side="left")
    end = np.searchsorted(flow, reductions[1], side="right")
    blamed = np.full(reductions[0].size, -1, dtype=np.int64)
    for index, (time, low, high) in enumerate(zip(reductions[0], begin, end, strict=True)):
        latest = low + int(np.searchsorted(at[low:high], time, side="right")) - 1
        if latest >= low:
            blamed[index] = event[latest]
    return blamed


def _distinct(event: IntArray, flow: IntArray, events: int) -> FloatArray:
    """Count the distinct flows of each event."""
    known = event >= 0
    pairs = np.unique(np.stack((event[known], flow[known])), axis=1)
    return np.bincount(pairs[0], minlength=events).astype(np.float64)


STATES = ("idle", "slow start", "congestion avoidance", "fast recovery", "timeout")
"""Meaning of the numbers in `FlowTrace.state`."""

_WAITS = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


class Periods(WithArrays):
    """Periods of time: their number and lengths.

    A period that extends beyond the window counts with its part inside, so that busy and
    idle periods together are the window.
    """

    number: int
    total_s: float
    lengths: Bins

    @computed_field
    @property
    def mean_s(self) -> float | None:
        """Mean length, seconds; None without periods."""
        return self.total_s / self.number if self.number else None

    @computed_field
    @property
    def p50_s(self) -> float | None:
        """Median of the lengths, seconds."""
        return of_histogram(self.lengths, 0.5)

    @computed_field
    @property
    def p99_s(self) -> float | None:
        """99 % quantile of the lengths, seconds."""
        return of_histogram(self.lengths, 0.99)


class LinkTrace(WithArrays):
    """One link and its queue.

    Attributes
    ----------
    capacity_bps, buffer_packets, bdp_packets
        As in the Outcome.
    queue_packets : shape (samples,)
        Packets waiting at each instant.
    queue_s, seen : shape (bins,)
        Seconds during which, and arrivals while, the number of waiting packets was in bin j, which
        is [j * queue_step, (j + 1) * queue_step).
    delay : Histogram
        Waiting times of the accepted packets, seconds.
    busy, idle : Periods
        Of the wire.
    arrivals, drops, marks : shape (classes,)
        Packets.
    """

    capacity_bps: float
    buffer_packets: int
    bdp_packets: float
    queue_packets: Ints
    queue_step: int
    queue_s: Floats
    seen: Ints
    delay: Bins
    busy: Periods
    idle: Periods
    arrivals: Ints
    drops: Ints
    marks: Ints

    @computed_field
    @property
    def utilization(self) -> float:
        """Share of the window in which the wire was busy."""
        return self.busy.total_s / (self.busy.total_s + self.idle.total_s)

    @computed_field
    @property
    def queue_mean_packets(self) -> float:
        """Mean number of waiting packets over time; bins count with their centre."""
        return self._mean(self.queue_s)

    @computed_field(alias="queue_seen_mean_packets")
    @property
    def seen_mean_packets(self) -> float | None:
        """Mean number of waiting packets at arrivals; None without arrivals."""
        return self._mean(self.seen) if self.seen.any() else None

    @computed_field
    @property
    def delay_s(self) -> dict[str, float | None]:
        """Quantiles of the waiting time, seconds: p50, p95, p99."""
        return {name: of_histogram(self.delay, p) for name, p in _WAITS}

    @computed_field
    @property
    def classes(self) -> list[dict[str, int]]:
        """Arrivals, drops and marks of each traffic class."""
        return [
            {"arrivals": arrivals, "drops": drops, "marks": marks}
            for arrivals, drops, marks in zip(
                self.arrivals.tolist(), self.drops.tolist(), self.marks.tolist(), strict=True
            )
        ]

    def _mean(self, weights: FloatArray | IntArray) -> float:
        middles = np.arange(weights.size) * self.queue_step + (self.queue_step - 1) / 2
        return float(np.dot(middles, weights) / np.sum(weights))


class FlowTrace(WithArrays):
    """One flow at each instant; all of shape (samples,).

    ``cwnd_packets`` is 0 while it is idle; ``srtt_s`` is NaN before the first round trip;
    ``state`` indexes `STATES`.
    """

    cwnd_packets: Floats
    srtt_s: Floats
    state: Ints


class Incidents(WithArrays):
    """Events of flows between one instant and the next; all of shape (incidents,).

    ``at_s`` is the later of the two instants.
    """

    at_s: Floats
    flow: Ints
    count: Ints

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        alike({"at_s": self.at_s, "flow": self.flow, "count": self.count})
        return self


class Synchronization(Closed):
    """Degree of synchronization of the flows.

    Attributes
    ----------
    index : var(sum of windows) / sum of var(window): 1 if independent, n if synchronized.
    congestion_events : number of events that are completely in the window.
    reduced_fraction : mean fraction of the flows that reduced their windows in an event.
    hit_fraction : mean fraction of the flows that lost a packet in an event.

    None means unknown: no window varied, or there was no event.
    """

    index: float | None
    congestion_events: int
    reduced_fraction: float | None
    hit_fraction: float | None


class Trace(Document, WithArrays):
    """One replication at equal steps through its measured window (schema 1).

    Attributes
    ----------
    scenario : the scenario, as from `Scenario.to_dict`
    seed, step_s : the replication, and the time from one instant to the next
    window_s : begin and end of the window
    round_trip_s : mean two-way propagation delay over the flows
    at_s : shape (samples,)
        The instants, without the window's end.
    links : by name, the link under study first
    flows : by number, the requested ones
    window_sum_packets, in_avoidance : shape (samples,)
        Sum of all congestion windows ("window_sums" in JSON); flows in congestion avoidance or
        fast recovery.
    window_mean_packets, window_variance : shape (all flows,)
        Of each flow's window over the instants, packets and packets squared.
    drops, reductions : Incidents
        Data packets that queues dropped; senders that reduced their window.
    unsettled : by class of long flows, why they have not settled; None if they have.
    """

    OLDER: ClassVar[Mapping[str, str]] = {"cuts": "reductions"}

    scenario: dict[str, Any]
    seed: int
    step_s: float
    window_s: tuple[float, float]
    round_trip_s: float
    at_s: Floats
    links: dict[str, LinkTrace] = Field(min_length=1)
    flows: dict[int, FlowTrace]
    window_sum_packets: Floats = Field(alias="window_sums")
    in_avoidance: Ints
    window_mean_packets: Floats
    window_variance: Floats
    drops: Incidents
    reductions: Incidents
    unsettled: dict[str, str | None] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        alike(self._series())
        return self

    def _series(self) -> dict[str, FloatArray | IntArray]:
        """Return what has a value at each instant, by the name of its column."""
        series: dict[str, FloatArray | IntArray] = {"at_s": self.at_s}
        for name, link in self.links.items():
            series[f"queue_packets.{name}"] = link.queue_packets
        series["window_sum_packets"] = self.window_sum_packets
        series["in_avoidance"] = self.in_avoidance
        for number, flow in self.flows.items():
            series[f"cwnd_packets.{number}"] = flow.cwnd_packets
            series[f"srtt_s.{number}"] = flow.srtt_s
            series[f"state.{number}"] = flow.state
        return series

    @property
    def bottleneck(self) -> LinkTrace:
        """The link under study."""
        return next(iter(self.links.values()))

    @computed_field
    @property
    def samples(self) -> int:
        """Number of instants."""
        return self.at_s.size

    @computed_field(alias="window_sum_packets")
    @cached_property
    def window_sum_fit(self) -> NormalFit | None:
        """The sum of the windows against a normal one (Appenzeller et al. 2004, Fig. 8)."""
        return fit_normal(self.window_sum_packets)

    @cached_property
    def congestion_events(self) -> CongestionEvents:
        """Rounds of loss; each lasts the mean propagation RTT and the 99 % quantile of delay."""
        return congestion_events(
            (self.drops.at_s, self.drops.flow),
            (self.reductions.at_s, self.reductions.flow),
            flows=max(1, int(np.count_nonzero(self.window_mean_packets))),
            length_s=self.round_trip_s + (of_histogram(self.bottleneck.delay, 0.99) or 0.0),
            window_s=self.window_s,
        )

    @computed_field
    @cached_property
    def synchronization(self) -> Synchronization:
        """Degree of synchronization of the flows."""
        events = self.congestion_events
        index = synchronization_index(self.window_sum_packets, self.window_variance)
        return Synchronization(
            index=index,
            congestion_events=events.opened_s.size,
            reduced_fraction=_mean(events.reduced_fraction),
            hit_fraction=_mean(events.hit_fraction),
        )

    @computed_field
    @property
    def long_flows(self) -> float | None:
        """n for the laws: the 5 % quantile of `in_avoidance` (Appenzeller et al. 2004, §5.1.4)."""
        return robust_minimum(self.in_avoidance)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write one row per instant; a column's name ends in its unit and its flow's number."""
        columns: dict[str, Sequence[Any]] = {n: v.tolist() for n, v in self._series().items()}
        for number, flow in self.flows.items():
            columns[f"srtt_s.{number}"] = ["" if np.isnan(t) else t for t in flow.srtt_s.tolist()]
            columns[f"state.{number}"] = [STATES[state] for state in flow.state]
        _write(path, columns, zip(*columns.values(), strict=True))

    def to_npz(self, path: str | PathLike[str]) -> None:
        """Write every array, histograms included, for `numpy.load`."""
        arrays: dict[str, Any] = {
            "seed": self.seed,
            "step_s": self.step_s,
            "window_s": np.array(self.window_s),
            "round_trip_s": self.round_trip_s,
            "at_s": self.at_s,
            "window_sum_packets": self.window_sum_packets,
            "in_avoidance": self.in_avoidance,
            "window_mean_packets": self.window_mean_packets,
            "window_variance": self.window_variance,
            "link_names": np.array(list(self.links)),
            "flow_numbers": np.array(list(self.flows), dtype=np.int64),
        }
        for what, incidents in (("drops", self.drops), ("reductions", self.reductions)):
            arrays |= {f"{what}_at_s": incidents.at_s, f"{what}_flow": incidents.flow}
            arrays[f"{what}_count"] = incidents.count
        for number, flow in self.flows.items():
            arrays[f"cwnd_packets.{number}"] = flow.cwnd_packets
            arrays[f"srtt_s.{number}"] = flow.srtt_s
            arrays[f"state.{number}"] = flow.state
        for name, link in self.links.items():
            arrays |= {f"{key}.{name}": value for key, value in _link_arrays(link).items()}
        with replacing(path) as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    def histograms_to_csv(self, path: str | PathLike[str]) -> None:
        """Write every link's histograms: rows of link, histogram, unit, low, high, weight."""
        header = ("link", "histogram", "unit", "low", "high", "weight")
        rows = (
            (name, *row)
            for name, link in self.links.items()
            for histogram, unit, bins in _histograms(link)
            for row in _rows(histogram, unit, bins)
        )
        _write(path, header, rows)

    def __repr__(self) -> str:
        name, number = self.scenario.get("name", "scenario"), self.at_s.size
        links = ", ".join(self.links)
        return f"Trace({name!r}, seed {self.seed}, {number} samples of {links})"

    __str__ = __repr__


def _mean(values: FloatArray) -> float | None:
    return float(np.mean(values)) if values.size else None


Path = str | PathLike[str]


def _link_arrays(link: LinkTrace) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "queue_packets": link.queue_packets,
        "arrivals": link.arrivals,
        "drops": link.drops,
        "marks": link.marks,
    }
    for name, _, bins in _histograms(link):
        arrays |= {f"{name}_edges": bins.edges, f"{name}_weights": bins.counts}
    return arrays


def _histograms(link: LinkTrace) -> Iterator[tuple[str, str, Histogram]]:
    edges = np.arange(link.queue_s.size + 1, dtype=np.float64) * link.queue_step
    yield "queue_time", "packets", Histogram(edges, link.queue_s)
    yield "queue_seen", "packets", Histogram(edges, link.seen.astype(np.float64))
    yield "delay", "s", link.delay
    yield "busy", "s", link.busy.lengths
    yield "idle", "s", link.idle.lengths


def _rows(name: str, unit: str, bins: Histogram) -> Iterator[tuple[Any, ...]]:
    low, high = bins.edges[:-1].tolist(), bins.edges[1:].tolist()
    for left, right, weight in zip(low, high, bins.counts.tolist(), strict=True):
        if weight > 0.0:
            yield name, unit, left, right, weight


def _write(path: Path, header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.flush()
        text.detach()
