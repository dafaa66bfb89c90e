"""Loss rate of long flows: from response functions for many flows, from the sawtooth for few.

Both have the band of the simulations' loss rates (`forebay.laws.response.BAND`, `FEW_BAND`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from forebay.laws import response, sawtooth
from forebay.laws.quantities import capacity, growth, growth_of, halves, share
from forebay.laws.regime import SAWTOOTHS_ADD
from forebay.scenario import COMPLETING_KINDS, OPEN_LOOP_KINDS, Tcp

if TYPE_CHECKING:
    from forebay.scenario import Distribution, Scenario

FEW_BAND = (0.35, 3.6)
"""Simulated over predicted loss rate: range in 34 random links with one to nine halving flows."""
LEAST_BUFFER = 0.5
"""Smallest buffer of the links of `forebay.laws.response.BAND`, in bdp/sqrt(n). In a buffer of one
packet 20 flows lost 17 %, where the law has 1.3 % and the band ends at 4.2 %; five lost 16 %, where
it is 0.15 % and ends at 0.55 %."""
_MIN_RTO_S = 0.2
_POINTS = 8
_MANY_KINDS = 200


@dataclass(frozen=True, slots=True)
class Between:
    """A value that is known only within a band."""

    value: float
    low: float
    high: float


def of_scenario(scenario: Scenario) -> Between | None:
    """Return the loss rate of the law that covers a scenario's flows; None if none does."""
    if not scenario.n_flows > 0 or response.wide_windows(scenario) is not None:
        return None
    many = scenario.n_flows >= SAWTOOTHS_ADD
    return of_many(scenario) if many else of_few(scenario)


def of_many(scenario: Scenario) -> Between | None:
    """Return the loss rate at which the flows just fill the rest of the link, at a half-full queue.

    None if a control has no response function, or if windows are outside the range of all. The
    band has no upper end in buffers smaller than those it is from: there bursts decide the loss.
    """
    left = 1.0 - share(scenario, COMPLETING_KINDS | OPEN_LOOP_KINDS)
    flows = list(_flows(scenario))
    if len(flows) > _MANY_KINDS:
        flows = _together(flows)
    if left <= 0.0 or any(each.control not in response.CONTROLS for each in flows):
        return None
    found = response.loss_rate(flows, left * capacity(scenario))
    return None if found is None else _within(found, response.BAND, scenario)


def of_few(scenario: Scenario) -> Between | None:
    """Return the loss rate of one drop for each flow and sawtooth cycle; None without halving.

    Its band, too, has no upper end in small buffers.
    """
    if not halves(scenario):
        return None
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    found = float(sawtooth.loss_rate(size, bdp, scenario.n_flows, growth(scenario)))
    return _within(found, FEW_BAND, scenario) if found < 1.0 else None


def _within(value: float, band: tuple[float, float], scenario: Scenario) -> Between:
    least = LEAST_BUFFER * scenario.bdp_packets / math.sqrt(scenario.n_flows)
    above = band[1] * value if scenario.buffer_packets >= least else 1.0
    return Between(value, band[0] * value, min(above, 1.0))


def _flows(scenario: Scenario) -> Iterator[response.Flows]:
    waiting = scenario.buffer_packets / 2.0 / capacity(scenario)
    for group in scenario.persistent:
        trips = _representative(group.rtt)
        for control, part in group.shares.items():
            for trip in trips:
                yield response.Flows(
                    group.flows * part / len(trips),
                    control,
                    trip + waiting,
                    _timeout(group, trip + waiting),
                    growth_of(group),
                    math.inf if group.max_window is None else group.max_window,
                )


def _together(flows: Iterable[response.Flows]) -> list[response.Flows]:
    """Merge flows with almost equal RTT and timeout, so that thousands of classes stay fast."""
    counts: dict[response.Flows, float] = {}
    for each in flows:
        rtt, timeout = (float(f"{value:.3g}") for value in (each.rtt, each.timeout))
        kind = replace(each, count=0.0, rtt=rtt, timeout=timeout)
        counts[kind] = counts.get(kind, 0.0) + each.count
    return [replace(kind, count=count) for kind, count in counts.items()]


def _timeout(group: Tcp, rtt: float) -> float:
    """Return the RTO: Linux adds its minimum to srtt, RFC 6298 (2.4) takes the larger of both."""
    least = _MIN_RTO_S if group.min_rto is None else float(group.min_rto)
    return rtt + least if group.sender == "linux" else max(rtt, least)


def _representative(law: Distribution) -> list[float]:
    """Return RTTs in seconds, each of which represents an equal part of the flows."""
    if law.low == law.high:
        return [float(law.low)]
    from forebay.workload.spread import picoseconds  # imports SciPy for some laws

    middles = (np.arange(_POINTS) + 0.5) / _POINTS
    return [max(float(each) / 1e12, 1e-9) for each in picoseconds(law, middles)]
