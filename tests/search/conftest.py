"""A link whose curves are known, and an engine that measures it with seeded noise."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.outcomes import around, class_of, link_of, metric, outcome_of, quantiles

from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine
from forebay.outcome import ClassOutcome, Metric, Outcome, SizeResult
from forebay.outcome.statistics import over_replications
from forebay.scenario import Duration, Scenario
from forebay.search.goals import goals_of
from forebay.search.level import Options
from forebay.search.problem import Problem
from forebay.search.search import search

Curve = Callable[[float], float]


def asked(**goals: Any) -> Scenario:
    """Return a link of 155 Mbit/s and 1291.7 packets of bandwidth-delay product with goals.

    Delays are in seconds. ``rate``, ``flows`` and ``control`` change the link.
    """
    rate, flows = goals.pop("rate", "155 Mbit/s"), goals.pop("flows", 100)
    control = goals.pop("control", "reno")
    delays = ("queue_delay_mean", "queue_delay_p99")
    made: Any = {k: Duration(v) if k in delays else v for k, v in goals.items()}
    return Scenario(
        name="a known link", link={"rate": rate},
        traffic=[{"kind": "long", "flows": flows, "rtt": "100 ms", "congestion_control": control}],
        goals=made,
    )  # fmt: skip


def size(scenario: Scenario, engine: Engine, **options: Any) -> SizeResult:
    """Return the answer of `search`, without a law."""
    more = {name: options.pop(name) for name in ("largest", "sizes") if name in options}
    problem = Problem(scenario, engine.name, goals_of(scenario), **more)
    effort = Effort(jobs=2, progress=options.pop("progress", None))
    how: dict[str, Any] = {"seeds": range(1, 6), "max_seeds": 20, "effort": effort} | options
    return search(problem, engine, Options(**how))


@dataclass
class KnownEngine(Engine):
    """Answers with analytic curves, plus noise drawn from (metric, seed, buffer).

    ``common`` of the noise's variance hangs on the seed alone: it is the same at every
    buffer, as it is where buffers are compared on the same flows.
    """

    curves: dict[str, Curve] | Callable[[Scenario], dict[str, Curve]]
    noise: dict[str, float] = field(default_factory=dict)
    common: float = 0.5
    world: int = 0
    name: str = "known"
    calls: list[str] = field(default_factory=list)
    stop_after: int | None = None
    packets_per_s: float = math.inf
    now: float = 0.0

    def clock(self) -> float:
        """Return the seconds that its runs took."""
        return self.now

    def run(self, scenario: Any, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        measure = scenario.measure
        simulated = float(measure.warmup + measure.duration)
        self.calls.append(
            f"{held(scenario):.10g} packets at {scenario.link.rate}, {len(seeds)} seeds of "
            f"{measure.warmup} and {measure.duration}"
        )
        packets = float(scenario.link.rate) / 12_000 * simulated * len(seeds)
        self.now += packets / self.packets_per_s
        if self.stop_after is not None and len(self.calls) > self.stop_after:
            raise KeyboardInterrupt
        effort.tell(0.5)
        curves = self.curves(scenario) if callable(self.curves) else self.curves
        read = {
            name: self._metric(curve, name, held(scenario), seeds) for name, curve in curves.items()
        }
        return _outcome(scenario, read, seeds)

    def _metric(self, curve: Curve, name: str, packets: float, seeds: Sequence[int]) -> Metric:
        truth, sigma = curve(packets), self.noise.get(name)
        if sigma is None:
            return metric(truth, n=len(seeds))
        values = [truth + sigma * self._draw(name, seed, packets) for seed in seeds]
        if len(values) == 1:  # an engine's batch means inside the run
            return around(values[0], 2.0 * sigma, 1)
        found = over_replications(values, (-math.inf, math.inf))
        assert found is not None
        return found

    def _draw(self, name: str, seed: int, packets: float) -> float:
        key = [self.world, seed, sum(name.encode())]
        shared = np.random.default_rng(key).standard_normal()
        own = np.random.default_rng([*key, round(packets)]).standard_normal()
        return float(math.sqrt(self.common) * shared + math.sqrt(1 - self.common) * own)


def held(scenario: Scenario) -> float:
    """Return the packets that the sized parameter lets wait: a limit, an AQM's aim or a burst."""
    queue, link = scenario.queue, scenario.link
    packet, rate = float(scenario.packet), float(link.capacity)
    if link.policer is not None or (link.shaper is not None and queue.discipline == "bfifo"):
        bucket = link.policer or link.shaper
        return float(bucket.depth) / packet
    if queue.discipline == "red":
        return float(queue.min or 0) / packet
    if queue.discipline == "cake":
        return float(queue.rtt or 0) / 20 * rate / 8 / packet
    if queue.target is not None and queue.discipline != "drop-tail":
        return float(queue.target) * rate / 8 / packet
    return float(scenario.buffer_packets)


def _outcome(scenario: Scenario, read: dict[str, Metric], seeds: Sequence[int]) -> Outcome:
    mean, p99 = read.get("queue_delay_mean"), read.get("queue_delay_p99")
    link = link_of(
        utilization=read.get("utilization"),
        loss_rate=read.get("loss_rate"),
        queue_delay_s=quantiles(mean=mean, p99=p99),
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
        goal_metrics={name: metric for name, metric in read.items() if name in ASKED},
    )
    classes = [_class(group, index, read) for index, group in enumerate(scenario.traffic)]
    return outcome_of(link, *classes, seeds=tuple(seeds), scenario=scenario.to_dict())


ASKED = (
    "utilization_probability", "loss_rate_probability", "queue_delay_p99.9", "queue_delay_maximum",
)  # fmt: skip


def _class(group: Any, index: int, read: dict[str, Metric]) -> ClassOutcome:
    """Curves named traffic.0.throughput, .loss_rate, .fct_mean and .fct_p99 become its metrics."""
    of = {name: read.get(f"traffic.{index}.{name}") for name in CLASS_CURVES}
    fct = quantiles(mean=of["fct_mean"], p99=of["fct_p99"])
    ends = fct.mean is not None or fct.p99 is not None
    return class_of(
        kind=group.kind, flows=group.flows or 50, throughput_bps=of["throughput"],
        loss_rate=of["loss_rate"], fct_s=fct if ends else None,
    )  # fmt: skip


CLASS_CURVES = ("throughput", "loss_rate", "fct_mean", "fct_p99")


def saturating(scale: float) -> Curve:
    """Utilization 1 - exp(-b / scale) / 2: half at no buffer, all of it in the end."""
    return lambda b: 1 - 0.5 * math.exp(-b / scale)


def meets_at(scale: float, target: float) -> int:
    """Smallest integer buffer at which `saturating` reaches the target."""
    return max(1, math.ceil(-scale * math.log(2 * (1 - target)) - 1e-9))


def delay_at(share: float) -> Curve:
    """Queueing delay of a queue that is filled to a share of its buffer, seconds."""
    return lambda b: share * b * 12_000 / 155e6
