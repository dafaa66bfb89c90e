"""An Outcome of what another simulator, or a capture before a queue, says of each packet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.outcome.invariants import violations
from forebay.outcome.metrics import summarize
from forebay.outcome.model import Outcome
from forebay.outcome.reading import (
    ClassReading,
    FloatArray,
    Histogram,
    IntArray,
    LinkReading,
    Reading,
)
from forebay.outcome.reading_invariants import violations_of_readings
from forebay.scenario import Scenario, ScenarioError, expect_scenario

_BATCHES = 20
_BINS = 2000
_COLUMNS = ("arrived_s", "started_s", "bytes", "class", "flow")


@dataclass(frozen=True)
class _Packets:
    """The packets of one run, shape (n,) each; `started_s` is NaN where the queue dropped it."""

    arrived_s: FloatArray
    started_s: FloatArray
    bits: FloatArray
    kind: IntArray
    flow: IntArray

    def part(self, chosen: Any) -> _Packets:
        """Return some of them."""
        return _Packets(*(column[chosen] for column in self.__dict__.values()))


def outcome_of_packets(
    scenario: Scenario, engine: str, runs: Mapping[int, Mapping[str, Any]]
) -> Outcome:
    """See `Outcome.of_packets`."""
    expect_scenario(scenario)
    if scenario.topology is not None or scenario.links or scenario.link.rates is not None:
        raise ScenarioError("contradiction.packets-of-one-link", field="link")
    if not isinstance(runs, Mapping) or not runs:
        raise ScenarioError("bad-packets.no-run", field="packets")
    readings = [_reading(scenario, seed, _read(scenario, runs[seed])) for seed in runs]
    links, classes = summarize(readings, scenario.goals)
    packets = sum(reading.packets for reading in readings)
    facts = {"seeds": list(runs), "wall_s": 0.0, "packets": packets}
    outcome = Outcome.of(scenario, engine, links, classes, facts)
    for fault in (*violations_of_readings(readings), *violations(outcome)):
        raise ScenarioError("bad-packets.impossible", field="packets", fault=str(fault))
    return outcome


def _read(scenario: Scenario, columns: Mapping[str, Any]) -> _Packets:
    for name in columns:
        if name not in _COLUMNS:
            known = ", ".join(_COLUMNS)
            raise ScenarioError("bad-packets.column", field="packets", value=name, known=known)
    given = {name: np.asarray(columns.get(name, 0.0), dtype=np.float64) for name in _COLUMNS}
    arrived, started = given["arrived_s"], given["started_s"]
    if arrived.ndim != 1 or any(each.shape not in ((), arrived.shape) for each in given.values()):
        raise ScenarioError("bad-packets.lengths", field="packets")
    size, kind, flow = (np.broadcast_to(given[name], arrived.shape) for name in _COLUMNS[2:])
    whole = kind.astype(np.int64)
    if not ((whole >= 0) & (whole < len(scenario.traffic))).all() or not (size > 0).all():
        raise ScenarioError("bad-packets.class-or-size", field="packets")
    sent = ~np.isnan(started)
    if not np.isfinite(arrived).all() or (started[sent] < arrived[sent]).any():
        raise ScenarioError("bad-packets.start", field="packets")
    return _Packets(arrived, started, 8.0 * size, whole, flow.astype(np.int64))


def _reading(scenario: Scenario, seed: int, packets: _Packets) -> Reading:
    warmup, span = float(scenario.measure.warmup), float(scenario.measure.duration)
    cuts = warmup + span * np.arange(_BATCHES + 1) / _BATCHES
    rate = float(scenario.link.capacity)
    classes = [
        _class(scenario, index, packets.part(packets.kind == index), cuts, rate)
        for index in range(len(scenario.traffic))
    ]
    link = _link(scenario, packets, cuts, rate)
    return Reading(seed, {"bottleneck": link}, classes, len(packets.bits), 0.0)


def _link(scenario: Scenario, packets: _Packets, cuts: FloatArray, rate: float) -> LinkReading:
    sent = packets.part(~np.isnan(packets.started_s))
    drops = _count(packets.part(np.isnan(packets.started_s)).arrived_s, cuts)
    accepted = _count(sent.arrived_s, cuts)
    queue_s = _levels(sent, cuts)
    inside = (sent.arrived_s >= cuts[0]) & (sent.arrived_s < cuts[-1])
    waits = (sent.started_s - sent.arrived_s)[inside]
    longest = float(waits.max(initial=0.0))
    counts, edges = np.histogram(waits, _BINS, (0.0, max(longest, 1e-12)))
    limit = scenario.buffer_packets
    return LinkReading(
        capacity_bps=rate, window_s=float(cuts[-1] - cuts[0]), buffer_packets=limit,
        bdp_packets=float(scenario.bdp_packets), bits=_bits(sent, cuts, rate),
        arrivals=accepted + drops, drops=drops, accepted=accepted,
        sent=_count(sent.started_s, cuts), held=_held(sent, cuts),
        most_packets=max(limit, queue_s.shape[1] - 1) if scenario.memory else limit,
        queue_packet_s=queue_s @ np.arange(queue_s.shape[1]), queue_s=queue_s, queue_step=1,
        delay=Histogram(edges, counts.astype(np.float64)),
        delay_sum_s=np.histogram(sent.arrived_s[inside], cuts, weights=waits)[0],
        longest_s=longest, class_delays=[],
    )  # fmt: skip


def _class(
    scenario: Scenario, index: int, packets: _Packets, cuts: FloatArray, rate: float
) -> ClassReading:
    group = scenario.traffic[index]
    sent = packets.part(~np.isnan(packets.started_s))
    drops = _count(packets.part(np.isnan(packets.started_s)).arrived_s, cuts)
    ends = sent.started_s + sent.bits / rate
    inside = (ends >= cuts[0]) & (ends < cuts[-1])
    _, place = np.unique(sent.flow[inside], return_inverse=True)
    return ClassReading(
        name=scenario.class_names[index], kind=group.kind, flows=int(group.flows or 0),
        link="bottleneck", throughput_bits=_bits(sent, cuts, rate),
        goodput_bits=np.histogram(ends[inside], cuts, weights=sent.bits[inside])[0],
        drops=drops, passed=_count(sent.arrived_s, cuts), sent=_count(packets.arrived_s, cuts),
        timeouts=None,  # packets before a queue tell of none
        flow_goodput_bits=np.bincount(place, sent.bits[inside]).astype(np.float64),
        rtt=None, fct_s=None, unfinished_s=None,
    )  # fmt: skip


def _count(times: FloatArray, cuts: FloatArray) -> IntArray:
    """Return how many fall into each batch, its begin included."""
    return np.diff(np.searchsorted(np.sort(times), cuts, "left"))


def _held(sent: _Packets, cuts: FloatArray) -> IntArray:
    come, gone = np.sort(sent.arrived_s), np.sort(sent.started_s)
    return np.searchsorted(come, cuts, "left") - np.searchsorted(gone, cuts, "left")


def _bits(sent: _Packets, cuts: FloatArray, rate: float) -> FloatArray:
    """Return what a wire of this rate sends of them in each batch."""
    on_wire = [np.clip((cut - sent.started_s) * rate, 0.0, sent.bits).sum() for cut in cuts]
    return np.diff(np.array(on_wire))


def _levels(sent: _Packets, cuts: FloatArray) -> FloatArray:
    """Return the seconds of each batch with 0, 1, 2, … packets waiting, shape (batches, k)."""
    waits = sent.part(sent.started_s > sent.arrived_s)
    times = np.concatenate([waits.started_s, cuts, waits.arrived_s])
    change = np.repeat([-1, 0, 1], [len(waits.bits), len(cuts), len(waits.bits)])
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(change[order])[:-1]
    batch = np.searchsorted(cuts, times[:-1], "right") - 1
    within = (batch >= 0) & (batch < _BATCHES)
    seconds = np.zeros((_BATCHES, int(level[within].max(initial=0)) + 1))
    np.add.at(seconds, (batch[within], level[within]), np.diff(times)[within])
    return seconds
