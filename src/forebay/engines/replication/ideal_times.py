"""The completion time of a transfer on its empty path, where a link is no wire of one rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS
from forebay.outcome.reading import Slowdowns

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout, LinkSpec
    from forebay.engines.replication.raw import RawReadings
    from forebay.scenario import Scenario
    from forebay.scenario.rate_trace import RateTrace
    from forebay.workload import Workload

_PS_PER_S = 1e12
FloatArray = NDArray[np.float64]
NEEDED = ("flow", "start_s", "segments", "ideal_s")
"""Columns of records that `ideal_s` reads."""


def ideal_s(layout: Layout, workload: Workload, raw: Mapping[str, NDArray[Any]]) -> FloatArray:
    """Return the time of each record.

    The core's has the mean rate of a link that varies, and the shaper's rate for every packet. No
    network has either.
    """
    found = raw["ideal_s"]
    if layout.flows is not None or not any(map(_is_unlike_a_wire, layout.links)):
        return found
    found, flow = found.copy(), raw["flow"]
    group = workload.traffic_class[flow]
    for index, (forward, _) in enumerate(layout.routes):
        links = [layout.links[place] for place in forward]
        mine = (group == index) & (raw["segments"] > 0)
        if not any(map(_is_unlike_a_wire, links)) or not mine.any():
            continue
        bits = 8.0 * workload.packet_bytes[flow[mine]]
        access = bits / workload.access_bps[flow[mine]]
        of_records = (raw[name][mine] for name in ("start_s", "segments", "ideal_s"))
        found[mine] = _on_route(links, bits, access, *of_records)
    return found


def slowdowns(
    scenario: Scenario, workload: Workload, layout: Layout, raw: RawReadings, index: int
) -> Slowdowns | None:
    """Return the slowdowns of a class whose transfers end; None without records."""
    records = raw.get("flow_records")
    if records is None or not KINDS[scenario.traffic[index].kind].completes:
        return None
    begin, span = float(scenario.measure.warmup), float(scenario.measure.duration)
    each = records.columns(names=(*NEEDED, "last_byte_s"))
    mine = (workload.traffic_class[each["flow"]] == index) & (each["segments"] > 0)
    mine &= (each["start_s"] >= begin) | np.isnan(each["last_byte_s"])
    own = {name: column[mine] for name, column in each.items()}
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
    best = [access, *(bits / _highest_bps(link) for link in links)]
    propagation = at_mean - _pipelined(mean, packets)
    longest = propagation + _pipelined(best, packets)
    before = 0.0 * start  # it starts when its first packet reaches the first queue
    for place, link in enumerate(links):
        after = sum(best[place + 2 :], access)
        delays = sum(each.delay_ps for each in links[:place]) / _PS_PER_S
        if link.rate_trace is not None:
            took = _ends(link.rate_trace, start + before, packets * bits) - start
            longest = np.maximum(longest, took + after + propagation - delays)
        if link.shaper is not None:
            tokens = np.maximum(0.0, packets * bits - _at_once(link, bits)) / link.rate_bps
            passed = before + tokens + best[place + 1]
            longest = np.maximum(longest, passed + after + propagation - delays)
        before = before + best[place + 1] + link.delay_ps / _PS_PER_S
    return longest


def _is_unlike_a_wire(link: LinkSpec) -> bool:
    return link.rate_trace is not None or link.shaper is not None


def _highest_bps(link: LinkSpec) -> float:
    if link.rate_trace is not None:
        return max(rate for _, rate in link.rate_trace.rates)
    return link.wire_bps or link.rate_bps


def _at_once(link: LinkSpec, bits: FloatArray) -> FloatArray:
    """Return the bits that a shaper lets pass at the wire's rate; one packet without a bucket."""
    assert link.shaper is not None, "a shaped link"
    return bits if link.shaper[-1] == "deficit" else np.full_like(bits, link.burst_bits)


def _pipelined(times: Sequence[FloatArray], packets: FloatArray) -> FloatArray:
    """Return the way of the first packet, and the others behind it at the slowest place."""
    each = np.array(times)
    return np.asarray(each.sum(axis=0) + (packets - 1) * each.max(axis=0))


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
