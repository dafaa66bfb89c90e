"""Scale a link down by k: rate and number of flows shrink together, and each flow stays the same.

A flow on the scaled link has the same window, round trip and congestion control as on the whole
link, and each class has the same share of the link. Only the number of flows in the queue changes,
and `extrapolate` uses this change over the scales. Where too few flows would remain, their windows
shrink as well: ``share`` divides the factor between flows and windows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from forebay.catalogue import of_level
from forebay.catalogue.metrics import BOTTLENECK, Level
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles
from forebay.scenario import (
    Fetching,
    Long,
    Rate,
    Replay,
    Requests,
    Scenario,
    Short,
    Standing,
    Traffic,
    Transfers,
    Udp,
)
from forebay.scenario.source import FlowCount
from forebay.search.cost import model_share, packets_per_second
from forebay.words import Fact

Part = TypeVar("Part", LinkOutcome, ClassOutcome)

LEAST_FLOWS = 25
"""Minimum flows of all lasting classes; below it, single flows dominate a link's behaviour."""
LEAST_WINDOW = 20.0
"""Minimum packets in flight per flow; below it, timeouts dominate over the window's dynamics."""
ENOUGH_FLOWS = 100
"""Flows beyond which their sum is close enough to normal, so that fewer may be simulated."""
TOP_FLOWS = 80
"""Minimum flows of the largest link that may represent a link of more flows."""
_WORTH_IT = 4.0
_OF_SUMS = 0.4
"""Exponent of the sum of many windows; 0.1 was seen of small windows, 0.55 of large ones, and the
law of BDP/sqrt(n) has 1/2."""
_LESS, _MORE = 0.3, 0.5
"""Limits of the exponent's distance from the law's, where windows shrink: twice those observed of
loss-based flows below it (0.87 for 1), and as observed above it (1.51 for 1)."""
LEAST_OF_CLASS = 5
"""Minimum flows of a class, so that rounding changes the class's share by a tenth at most."""
FASTER = 1.05
"""Least ratio of rates of a smaller link and its access links, the faster over the slower. At 1 the
packets of a flow come as fast as the wire sends them, and one flow takes the link (phase effects,
Floyd and Jacobson 1992); at 1.05 shares and losses are those of access links ten times as fast."""
LEAST_PACKETS = 10_000.0
"""Minimum packets through a link in its measured window; fewer say little about a loss of 1 %."""
_BUCKETS = 1024
_LEAST_BUCKETS = 16


def why_not(scenario: Scenario) -> Fact | None:
    """Return why no smaller link can behave like this one; None if one may."""
    queue, link = scenario.queue, scenario.link
    jitter, policer, shaper = link.jitter, link.policer, link.shaper
    is_in_intervals = shaper is not None and shaper.refill == "interval"
    together = any(isinstance(g, Requests) for g in scenario.traffic)
    listed = [g for g in scenario.traffic if isinstance(g, Replay)
              or (isinstance(g, Transfers) and g.table is not None)]  # fmt: skip
    reasons = (
        (scenario.topology is not None or scenario.links, "not-scaled.several-links"),
        (scenario.memory is not None or queue.alpha is not None, "not-scaled.shared-memory"),
        # A burst of bytes lasts longer on a slower link.
        (policer and policer.refill != "deficit", "not-scaled.bucket-of-bytes"),
        (is_in_intervals, "not-scaled.bytes-of-an-interval"),
        (link.loss is not None, "not-scaled.loss-of-a-link"),
        (link.rate_trace is not None, "not-scaled.rate-trace"),
        (link.down is not None, "not-scaled.down"),
        (jitter and jitter.reorder, "not-scaled.reorders"),
        (queue.transmit_ring, "not-scaled.transmit-ring"),
        (queue.classes, "not-scaled.class-queues"),
        (queue.discipline == "red", "not-scaled.red"),
        (together, "not-scaled.together"),
        (listed, "not-scaled.listed"),
        (_has_goal(scenario, "fct"), "not-scaled.completion"),
    )
    return next((Fact(reason) for holds, reason in reasons if holds), None)


def is_one_process(scenario: Scenario) -> bool:
    """Whether links of all rates have the same queue in packets: only Poisson datagrams cross.

    Arrivals at a share of the line rate and service at the line rate are one process, M/G/1, whose
    clock alone runs faster on a faster link.
    """
    return all(
        isinstance(group, Udp)
        and group.arrivals == "poisson"
        and group.load is not None
        and group.access_rate is None
        for group in scenario.traffic
    )


@dataclass(frozen=True, slots=True)
class ScalingRule:
    """How a link is scaled down by a factor k, up to ``largest``.

    The number of flows shrinks by ``k ** share``, and the window of each by the rest of k. A share
    ``by_model`` of the flows follows a model of the path; its bursts need the same buffer at any
    rate.
    """

    share: float
    largest: float
    by_model: float = 0.0

    @property
    def shrinks_windows(self) -> bool:
        """Whether flows of a smaller link have smaller windows."""
        return self.share < 1.0

    @property
    def likely(self) -> float:
        """The exponent of packets in the rate to begin with: the law's where windows shrink."""
        if self.shrinks_windows:
            return 1.0 - self.share / 2.0
        return _OF_SUMS * (1.0 - self.by_model)

    @property
    def steepest(self) -> float:
        """The largest exponent: that of BDP/sqrt(n), and more where windows shrink with the link.

        Flows with larger windows also synchronize more: docs/explanation/scaled-links.md.
        """
        return self.likely + _MORE if self.shrinks_windows else 0.5

    @property
    def gentlest(self) -> float | None:
        """The smallest exponent where windows shrink with the link; None where they do not."""
        if not self.shrinks_windows:
            return None
        return 0.0 if self.by_model else self.likely - _LESS


def rule_of(scenario: Scenario, wanted: float, top: float = 1.0) -> ScalingRule:
    """Return the rule that makes the link ``wanted`` times smaller, or as near as possible.

    The number of flows shrinks as long as enough remain, also on the largest link that fits, which
    is about ``top`` times smaller; their windows shrink by the rest. The window determines the loss
    rate, so with a goal on loss the windows shrink only where fewer flows are not enough.
    """
    flows, others = _fewer_flows(scenario, LEAST_FLOWS), _other_limits(scenario)
    by_model = model_share(scenario)
    long = sum(float(g.flows) for g in scenario.traffic if isinstance(g, Long))
    fewest = ScalingRule(1.0, min(flows, others), by_model)
    if not long or (_has_goal(scenario, "loss") and fewest.largest >= wanted):
        return fewest
    enough = long >= TOP_FLOWS * top
    if flows >= wanted and enough:
        return fewest
    fewer = max(1.0, _fewer_flows(scenario, ENOUGH_FLOWS))
    # The packets in flight of one long flow, if all share the link evenly.
    smaller = scenario.bdp_packets / max(1.0, long) / LEAST_WINDOW
    largest = fewer * max(1.0, smaller)
    # Users fetch whole files, whatever the windows of others are.
    fetches = any(isinstance(group, Fetching) for group in scenario.traffic)
    if fetches or smaller < _WORTH_IT or (enough and largest <= flows):
        return fewest
    factor = min(wanted, largest)
    share = min(1.0, math.log(fewer) / math.log(factor)) if factor > 1.0 else 1.0
    return ScalingRule(share, min(largest, others), by_model)


def _has_goal(scenario: Scenario, word: str) -> bool:
    """Whether a goal of the link or of a class has this word in its name: "loss", "fct"."""
    own = [scenario.goals, *(group.goals for group in scenario.traffic if group.goals is not None)]
    return any(word in name for of in own for name, target in of if target is not None)


def _fewer_flows(scenario: Scenario, least: float) -> float:
    """Return the factor by which the flows may shrink to ``least``."""
    standing = [g for g in scenario.traffic if isinstance(g, Standing)]
    closed = [float(g.flows) for g in scenario.traffic if isinstance(g, Long | Fetching)]
    factors = [float(g.flows) / _least_of(g) for g in standing]
    if closed:
        factors.append(sum(closed) / least)
    if not standing and (transfers := _transfers_at_once(scenario)):
        factors.append(transfers / least)
    return min(factors, default=math.inf)


def _transfers_at_once(scenario: Scenario) -> float:
    """Return about how many short flows are under way: each takes the rounds of its slow start."""
    rate = scenario.link.capacity
    short = [
        (g, g.length.mean_packets(g.packet) if isinstance(g, Short) else g.mean_packets)
        for g in scenario.traffic
        if isinstance(g, Short | Transfers)
    ]
    return sum(g.arrivals_per_second(rate) * g.rtt.mean * _rounds(mean) for g, mean in short)


def _rounds(packets: float) -> float:
    """Return the round trips of a slow start that begins with ten packets (RFC 6928)."""
    return 1.0 + math.log2(1.0 + packets / 10.0)


def _least_of(group: Traffic) -> float:
    """Return the minimum flows of a class; the share of datagrams with a load is never rounded.

    Poisson flows have no minimum: any number of them makes the same process.
    """
    if not isinstance(group, Udp) or group.load is None:
        return LEAST_OF_CLASS
    return 1e-9 if group.arrivals == "poisson" else 1.0


def _other_limits(scenario: Scenario) -> float:
    """Return the factor by which the link may shrink before anything but flows gets too small."""
    rate = float(scenario.link.capacity)
    room = (rate / (FASTER * group.access(rate)) for group in scenario.traffic)
    factors = [math.inf, *(factor for factor in room if factor > 1.0)]
    buckets = queue_buckets(scenario)
    if buckets is not None:
        factors.append(buckets / _LEAST_BUCKETS)
    packets = packets_per_second(scenario) * float(scenario.measure.duration)
    return max(1.0, min(*factors, packets / LEAST_PACKETS))


def queue_buckets(scenario: Scenario) -> int | None:
    """Return the number of queues into which flows are hashed; None if they share one."""
    if scenario.queue.discipline != "fq_codel":
        return None
    return scenario.queue.buckets or _BUCKETS


def scaled(scenario: Scenario, factor: float, share: float = 1.0) -> Scenario:
    """Return the link, ``factor`` (1 or more) times smaller; its buffer is not set."""
    if factor == 1.0:
        return scenario
    fewer = factor**share
    link, rate = scenario.link, float(scenario.link.capacity)
    if link.shaper is not None and link.shaper.refill != "deficit":
        link = link.unshaped
    smaller = scenario.with_link(link.slower(factor))
    smaller = smaller.with_traffic(_class(group, rate, factor, fewer) for group in scenario.traffic)
    buckets = queue_buckets(scenario)
    if buckets is None:
        return smaller
    return smaller.with_queue({"buckets": max(1, round(buckets / fewer))})


def _class(group: Traffic, rate: float, factor: float, fewer: float) -> Traffic:
    changes: dict[str, Any] = {}
    if group.access_rate is not None and FASTER * group.access_rate >= rate:
        access = max(group.access_rate, FASTER * rate) / factor
        changes["access_rate"] = Rate(max(access, group.flow_peak(rate / factor)))
    if isinstance(group, Standing):
        changes["flows"] = FlowCount(max(1, round(group.flows / fewer)))
    if fewer < factor:  # what one flow sends shrinks with the windows
        for name in ("rate", "peak_rate"):
            if (sent := getattr(group, name, None)) is not None:
                changes[name] = Rate(float(sent) * fewer / factor)
        if isinstance(group, Long) and group.max_window is not None:
            changes["max_window"] = max(2, round(group.max_window * fewer / factor))
    if isinstance(group, Short | Transfers) and group.arrival_rate is not None:
        changes["arrival_rate"] = group.arrival_rate / factor
    if group.goals is not None:
        changes["goals"] = group.goals.slower(factor)
    return group.model_copy(update=changes)


_DELAY_METRIC = "queue_delay"
_BY_INTERVAL = ("codel", "fq_codel")
"""AQMs whose waits above the target follow the interval, which is the same at any rate. Those of
cobalt, which has an interval too, were seen to follow the target."""

Rule = Callable[[Metric], Metric]
"""What a metric of the smaller link is on the whole link."""


def _same(metric: Metric) -> Metric:
    return metric


def _up_to(metric: Metric, aim: float, below: float, above: float) -> Metric:
    """Return it with one factor for its part up to an aim, and another for the part beyond."""

    def carried(value: float) -> float:
        return below * min(value, aim) + above * max(value - aim, 0.0)

    low, high = (None if end is None else carried(end) for end in (metric.low, metric.high))
    return Metric(value=carried(metric.value), low=low, high=high, n=metric.n)


def as_whole(
    outcome: Outcome, sized: Scenario, factor: float, buffers: float, *, windows: float = 1.0
) -> Outcome:
    """Return the outcome scaled to the whole link.

    Parameters
    ----------
    sized : the whole link with its size, ``factor`` times larger than the simulated one.
    buffers : that size over the simulated one: of the limit, or of what an AQM aims at.
    windows : a flow's window on the whole link over that on this one. If they differ, a loss goes
        as their inverse square (`laws.loss`), within a band; 1 leaves it as it is.
    """
    link, queue = outcome.links[BOTTLENECK], sized.queue
    aim = math.inf  # seconds
    if queue.discipline in _BY_INTERVAL and queue.target is not None:
        aim = float(queue.target) * factor / buffers
    packet_s = 8 * int(sized.packet) * factor / float(sized.link.capacity)
    rules: dict[str, Rule] = {
        "same": _same,
        "rate": lambda metric: metric.scaled(factor),
        "queue": lambda metric: _up_to(metric, aim / packet_s, buffers, factor),
        "delay": lambda metric: _up_to(metric, aim, buffers / factor, 1.0),
        "loss": _same if windows == 1.0 else lambda metric: _lost(metric, windows**-2),
    }
    classes = zip(outcome.classes, sized.traffic, strict=True)
    return outcome.of_another(
        sized, {"scaled": factor}, {BOTTLENECK: _whole_link(link, sized, rules)},
        [
            _whole_class(kind, int(group.flows) or round(kind.flows * factor), rules)
            for kind, group in classes
        ],
    )  # fmt: skip


def _whole_link(link: LinkOutcome, sized: Scenario, rules: Mapping[str, Rule]) -> LinkOutcome:
    own = {
        name: rules["delay"](metric) if name.startswith(_DELAY_METRIC) else metric
        for name, metric in link.goal_metrics.items()
    }
    sizes = {"buffer_packets": sized.buffer_packets, "bdp_packets": sized.bdp_packets}
    others = {"capacity_bps": float(sized.link.capacity), "most_packets": None, "goal_metrics": own}
    return _whole(link, "link", rules, {**sizes, **others})


def _whole_class(kind: ClassOutcome, flows: int, rules: Mapping[str, Rule]) -> ClassOutcome:
    unknown = dict.fromkeys(("fct_open", "slowdown", "slowdown_ideal", "controllers"))
    return _whole(kind, "class", rules, {**unknown, "flows": flows})


def _whole(
    part: Part, level: Level, rules: Mapping[str, Rule], others: Mapping[str, object]
) -> Part:
    """Return a part for the whole link: its metrics by the rules in their records, and others."""
    metrics: dict[str, Any] = {}
    for of in of_level(level):
        value: Metric | Quantiles | None = getattr(part, of.key)
        if of.scaling == "omitted" or value is None:
            metrics[of.key] = None
        elif isinstance(value, Quantiles):
            rule = rules[of.scaling]
            metrics[of.key] = Quantiles(**{name: each and rule(each) for name, each in value})
        else:
            metrics[of.key] = rules[of.scaling](value)
    return part.model_copy(update={**metrics, **others})


_BAND = (0.35, 3.6)
"""Simulated loss over the law's: the range in 34 links of few flows (`engines.theory.loss`)."""


def _lost(lost: Metric, times: float) -> Metric:
    """Return a loss ``times`` as large by the law, with the law's band."""
    ends = (lost.value if end is None else end for end in (lost.low, lost.high))
    low, high = (times * band * end for band, end in zip(_BAND, ends, strict=True))
    return Metric(value=times * lost.value, low=low, high=min(high, 1.0), n=lost.n)
