"""Converts the samples of one replication to a Trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.replication.readings import read_links, to_histogram, to_reading
from forebay.outcome import summarize
from forebay.outcome.trace import FlowTrace, Incidents, LinkTrace, Periods, Trace
from forebay.scenario import Duration, ScenarioError

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout
    from forebay.engines.replication.readings import (
        RawHistogram,
        RawLink,
        RawReadings,
        RawTrace,
    )
    from forebay.outcome.reading import FloatArray, IntArray, LinkReading
    from forebay.scenario import Scenario
    from forebay.workload import Workload


MOST_SAMPLES = 10_000_000


def to_trace(
    scenario: Scenario,
    layout: Layout,
    raw: RawReadings,
    workload: Workload,
    *,
    step: Duration,
    flows: Sequence[int],
    seed: int,
) -> Trace:
    """Return the Trace of one replication that was sampled at every ``step``."""
    _, classes = summarize([to_reading(scenario, seed, workload, layout, raw)], None)
    read = raw["trace"]
    assert read is not None, "asked for"
    begin = float(scenario.measure.warmup)
    return Trace(
        scenario=scenario.to_dict(),
        seed=seed,
        step_s=float(step),
        window_s=(begin, begin + scenario.measure.duration),
        round_trip_s=float(scenario.mean_rtt),
        at_s=read["at_s"],
        links={
            name: _link(reading, each, queue)
            for (name, reading), each, queue in zip(
                read_links(scenario, layout, raw).items(), raw["links"], read["queue"], strict=False
            )
        },
        flows={number: _flow(read, row) for row, number in enumerate(flows)},
        window_sum_packets=read["window_sum"],
        in_avoidance=read["in_avoidance"],
        window_mean_packets=read["window_mean"],
        window_variance=read["window_variance"],
        drops=Incidents(**read["drops"]),
        reductions=Incidents(**read["reductions"]),
        unsettled={each.name: each.unsettled for each in classes if each.settled is not None},
    )


def check_step(scenario: Scenario, step: Duration) -> None:
    """Refuse a step that gives no sample, or too many."""
    least = max(scenario.measure.duration / MOST_SAMPLES, 1e-12)
    if not least <= step <= scenario.measure.duration:
        hint = f"write a time from {Duration(least)!s} to {scenario.measure.duration}"
        raise ScenarioError(
            "out-of-range", f"a sample every {step} of {scenario.measure.duration}", hint,
            field="step", value=step,
        )  # fmt: skip


def _link(reading: LinkReading, raw: RawLink, queue: IntArray) -> LinkTrace:
    detail = raw["detail"]
    assert detail is not None, "asked for"
    return LinkTrace(
        capacity_bps=reading.capacity_bps,
        buffer_packets=reading.buffer_packets,
        bdp_packets=reading.bdp_packets,
        queue_packets=queue,
        queue_step=reading.queue_step,
        queue_s=_of_size(reading.queue_s.sum(axis=0), len(detail["seen"])),
        seen=detail["seen"],
        delay=reading.delay,
        busy=_periods(*detail["busy"]),
        idle=_periods(*detail["idle"]),
        arrivals=raw["arrivals"].sum(axis=0),
        drops=raw["drops"].sum(axis=0),
        marks=raw["marks"].sum(axis=0),
    )


def _periods(total_s: float, raw: RawHistogram) -> Periods:
    lengths = to_histogram(raw)
    return Periods(number=int(lengths.counts.sum()), total_s=total_s, lengths=lengths)


def _flow(read: RawTrace, row: int) -> FlowTrace:
    srtt = read["srtt_s"][row]
    return FlowTrace(
        cwnd_packets=read["cwnd"][row],
        srtt_s=np.where(srtt > 0.0, srtt, np.nan),
        state=read["state"][row],
    )


def _of_size(queue_s: FloatArray, bins: int) -> FloatArray:
    """Pad the bins up to the buffer; readings end with the largest queue that occurred."""
    return np.concatenate([queue_s, np.zeros(max(0, bins - len(queue_s)))])
