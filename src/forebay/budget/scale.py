"""The same link k times smaller: rate and flows go down together, each flow keeps what it has.

A flow of the scaled link has the window, round trip and congestion control that it has on the whole
one, and each class keeps its share of the link. What changes is how many flows share the queue, and
that is what `extrapolate` follows from one scale to the next. Where that would leave too few flows,
they are kept and their windows shrink as well: ``share`` says how the factor is divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.scenario import Long, Rate, Replay, Scenario, Session, Short, Standing
from forebay.scenario.source import FlowCount

if TYPE_CHECKING:
    from forebay.scenario import Traffic

LEAST_FLOWS = 25
"""Flows, of all classes that last, below which a link behaves as its few flows do."""
LEAST_WINDOW = 20.0
"""Packets in flight of a flow below which timeouts take the place of what the window does."""
ENOUGH_FLOWS = 100
"""Flows beyond which their sum is as good as normal, so that fewer of them need not be played."""
_WORTH_IT = 4.0
LEAST_OF_CLASS = 5
"""Flows of each class: rounding them must not change the class's share by more than a tenth."""
_BUCKETS = 1024
_LEAST_BUCKETS = 16


def why_not(scenario: Scenario) -> str | None:
    """Return why this link has no smaller one that behaves alike; None where it may have."""
    queue = scenario.queue
    reasons = (
        (scenario.topology is not None or scenario.links, "it has several links"),
        (scenario.memory is not None or queue.alpha is not None, "its queues share memory"),
        (queue.transmit_ring, "its transmit ring is a number of packets"),
        (queue.classes, "its class queues have limits of their own"),
        (queue.discipline == "red", "red averages its queue over packets, not over time"),
        (
            any(isinstance(g, Replay) for g in scenario.traffic),
            "a list of packets cannot be scaled",
        ),
    )
    return next((reason for holds, reason in reasons if holds), None)


def scales(scenario: Scenario) -> bool:
    """Whether links a few times smaller may stand for this one."""
    return why_not(scenario) is None and path_of(scenario, _WORTH_IT).largest >= _WORTH_IT


@dataclass(frozen=True, slots=True)
class Path:
    """How a link is made smaller by a factor k, up to ``largest``.

    Flows go down by ``k ** share`` and the window of each by what is left of k.
    """

    share: float
    largest: float

    @property
    def steepest(self) -> float:
        """The largest exponent of packets in the rate along the path.

        It is that of BDP/sqrt(n) where windows are kept. Where they shrink the law says 1, but
        flows of larger windows also keep in step more: docs/explanation/scaled-links.md.
        """
        return 0.5 if self.share == 1.0 else self.gentlest + 0.3

    @property
    def gentlest(self) -> float:
        """The exponent of BDP/sqrt(n) along the path where windows shrink; 0 where they do not."""
        return 0.0 if self.share == 1.0 else 1.0 - self.share / 2.0


def path_of(scenario: Scenario, wanted: float) -> Path:
    """Return the path along which the link can be made ``wanted`` times smaller, or nearly so.

    Flows alone go as far as enough of them are left; what is then missing, their windows give.
    A loss rate is set by the window, so with a goal on it windows stay.
    """
    flows, others = _fewer_flows(scenario, LEAST_FLOWS), _other_limits(scenario)
    if flows >= wanted or not _long_flows(scenario) or scenario.goals.loss_rate is not None:
        return Path(1.0, min(flows, others))
    fewer = _fewer_flows(scenario, ENOUGH_FLOWS)
    fewer = fewer if fewer >= _WORTH_IT else 1.0
    largest = fewer * max(1.0, _window(scenario) / LEAST_WINDOW)
    if largest <= flows:
        return Path(1.0, min(flows, others))
    factor = min(wanted, largest)
    share = min(1.0, math.log(fewer) / math.log(factor)) if factor > 1.0 else 1.0
    return Path(share, min(largest, others))


def _long_flows(scenario: Scenario) -> float:
    return sum(float(g.flows) for g in scenario.traffic if isinstance(g, Long))


def _window(scenario: Scenario) -> float:
    """Return the packets in flight of one long flow, if they share the link evenly."""
    return scenario.bdp_packets / max(1.0, _long_flows(scenario))


def _fewer_flows(scenario: Scenario, least: float) -> float:
    """Return by what factor the flows may become fewer, so that ``least`` are left."""
    standing = [float(g.flows) for g in scenario.traffic if isinstance(g, Standing)]
    closed = [float(g.flows) for g in scenario.traffic if isinstance(g, Long | Session)]
    factors = [flows / LEAST_OF_CLASS for flows in standing]
    if closed:
        factors.append(sum(closed) / least)
    return min(factors, default=math.inf)


def _other_limits(scenario: Scenario) -> float:
    """Return by what factor the link may shrink before something else than flows gets too small."""
    rate = float(scenario.link.rate)
    access = [float(g.access_rate) for g in scenario.traffic if g.access_rate is not None]
    factors = [rate / each for each in access if each < 10 * rate]
    buckets = queue_buckets(scenario)
    if buckets is not None:
        factors.append(buckets / _LEAST_BUCKETS)
    return min(factors, default=math.inf)


def queue_buckets(scenario: Scenario) -> int | None:
    """Return into how many queues flows are hashed; None where they share one."""
    if scenario.queue.discipline != "fq_codel":
        return None
    return scenario.queue.buckets or _BUCKETS


def scaled(scenario: Scenario, factor: float, share: float = 1.0) -> Scenario:
    """Return the link ``factor`` times smaller, 1 or more; its buffer is left to be sized."""
    if factor == 1.0:
        return scenario
    fewer = factor**share
    rate = Rate(float(scenario.link.rate) / factor)
    changes: dict[str, Any] = {
        "link": scenario.link.model_copy(update={"rate": rate}),
        "traffic": tuple(_class(group, factor, fewer) for group in scenario.traffic),
    }
    buckets = queue_buckets(scenario)
    if buckets is not None:
        update = {"buckets": max(1, round(buckets / fewer))}
        changes["queue"] = scenario.queue.model_copy(update=update)
    return scenario.model_copy(update=changes)


def _class(group: Traffic, factor: float, fewer: float) -> Traffic:
    changes: dict[str, Any] = {}
    if isinstance(group, Standing):
        changes["flows"] = FlowCount(max(1, round(group.flows / fewer)))
    if isinstance(group, Short) and group.arrival_rate is not None:
        changes["arrival_rate"] = group.arrival_rate / factor
    if group.goals is not None and group.goals.throughput is not None:
        less = Rate(float(group.goals.throughput) / factor)
        changes["goals"] = group.goals.model_copy(update={"throughput": less})
    return group.model_copy(update=changes)


__all__ = ["LEAST_FLOWS", "LEAST_WINDOW", "Path", "path_of", "scaled", "scales", "why_not"]
