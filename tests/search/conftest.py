"""A link whose curves are known, and an engine that measures it with seeded noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forebay.engines.base import Engine
from forebay.outcome import (
    ClassOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Provenance,
    Quantiles,
)
from forebay.outcome.statistics import over_replications
from forebay.scenario import ClassGoals, Duration, Goals
from forebay.scenario.queue import Queue

Curve = Callable[[float], float]


@dataclass(frozen=True)
class Link155:
    """Stands for a Scenario: what a sizing reads of one, and nothing else."""

    goals: Any
    name: str = "a known link"
    bdp_packets: float = 1291.7
    n_flows: int = 100
    packet: int = 1500
    largest_packet: int = 1500
    link: Any = field(default_factory=lambda: SimpleNamespace(capacity=155e6, loss=None))
    buffer_packets: int = 129
    traffic: tuple[Any, ...] = ()
    crossing: tuple[str, ...] = ("everything",)
    flows_between: tuple[int, int] | None = None
    queue: Queue = field(default_factory=Queue)
    memory: float | None = None

    @property
    def flows_uncertain(self) -> bool:
        return self.flows_between is not None

    def at_flows(self, end: str) -> Link155:
        assert self.flows_between is not None
        flows = self.flows_between[0 if end == "low" else 1]
        return replace(self, n_flows=flows, flows_between=None)

    def with_buffer(self, packets: int) -> Link155:
        assert isinstance(packets, int) and packets >= 1
        return replace(self, buffer_packets=packets)


def asked(**goals: Any) -> Link155:
    """Goals as a scenario has them, delays in seconds."""
    delays = ("queue_delay_mean", "queue_delay_p99")
    made = {k: Duration(v) if k in delays else v for k, v in goals.items()}
    return Link155(Goals.model_validate(made))


@dataclass
class KnownEngine(Engine):
    """Answers with analytic curves, plus noise drawn from (metric, seed, buffer).

    ``common`` of the noise's variance hangs on the seed alone: it is the same at every
    buffer, as it is where buffers are compared on the same flows.
    """

    curves: dict[str, Curve] | Callable[[Link155], dict[str, Curve]]
    noise: dict[str, float] = field(default_factory=dict)
    common: float = 0.5
    world: int = 0
    name: str = "known"
    calls: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    stop_after: int | None = None

    def run(
        self, scenario: Any, seeds: Sequence[int], *, jobs: int = 0, progress: Any = None
    ) -> Outcome:
        self.calls.append((scenario.buffer_packets, tuple(seeds)))
        if self.stop_after is not None and len(self.calls) > self.stop_after:
            raise KeyboardInterrupt
        if progress is not None:
            progress(0.5)
        curves = self.curves(scenario) if callable(self.curves) else self.curves
        read = {
            name: self._metric(curve, name, scenario.buffer_packets, seeds)
            for name, curve in curves.items()
        }
        return _outcome(scenario, read, seeds)

    def _metric(self, curve: Curve, name: str, packets: int, seeds: Sequence[int]) -> Metric:
        truth, sigma = curve(packets), self.noise.get(name)
        if sigma is None:
            return Metric(value=truth, low=None, high=None, n=len(seeds))
        values = [truth + sigma * self._draw(name, seed, packets) for seed in seeds]
        if len(values) == 1:  # an engine's batch means inside the run
            half = 2.0 * sigma
            return Metric(value=values[0], low=values[0] - half, high=values[0] + half, n=1)
        metric = over_replications(values, (-math.inf, math.inf))
        assert metric is not None
        return metric

    def _draw(self, name: str, seed: int, packets: int) -> float:
        key = [self.world, seed, sum(name.encode())]
        shared = np.random.default_rng(key).standard_normal()
        own = np.random.default_rng([*key, packets]).standard_normal()
        return float(math.sqrt(self.common) * shared + math.sqrt(1 - self.common) * own)


def _outcome(scenario: Link155, read: dict[str, Metric], seeds: Sequence[int]) -> Outcome:
    mean, p99 = read.get("queue_delay_mean"), read.get("queue_delay_p99")
    link = LinkOutcome(
        utilization=read.get("utilization"),
        loss_rate=read.get("loss_rate"),
        queue_packets=None,
        queue_delay_s=Quantiles(mean=mean, p50=None, p95=None, p99=p99),
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
        goal_metrics={name: metric for name, metric in read.items() if name in ASKED},
    )
    classes = [_class(group, index, read) for index, group in enumerate(scenario.traffic)]
    known = Provenance(version="0", seeds=list(seeds), scenario_sha256="", wall_s=0.0)
    return Outcome(
        scenario={"name": scenario.name}, engine="known", links={"bottleneck": link},
        classes=classes, broken_assumptions=[], provenance=known,
    )  # fmt: skip


ASKED = (
    "utilization_probability", "loss_rate_probability", "queue_delay_p99.9", "queue_delay_maximum",
)  # fmt: skip


def _class(group: Any, index: int, read: dict[str, Metric]) -> ClassOutcome:
    """Curves named traffic.0.throughput, .loss_rate, .fct_mean and .fct_p99 become its metrics."""
    of = {name: read.get(f"traffic.{index}.{name}") for name in CLASS_CURVES}
    fct = Quantiles(mean=of["fct_mean"], p50=None, p95=None, p99=of["fct_p99"])
    return ClassOutcome(
        kind=group.kind, flows=group.flows, throughput_bps=of["throughput"], goodput_bps=None,
        jain=None, rtt_s=None, loss_rate=of["loss_rate"], timeouts=None, fct_s=fct,
    )  # fmt: skip


CLASS_CURVES = ("throughput", "loss_rate", "fct_mean", "fct_p99")


def group(kind: str = "long", flows: int = 100, **goals: Any) -> SimpleNamespace:
    """One class of traffic with its goals."""
    made = ClassGoals.model_validate(goals) if goals else None
    return SimpleNamespace(kind=kind, flows=flows, goals=made)


def saturating(scale: float) -> Curve:
    """Utilization 1 - exp(-b / scale) / 2: half at no buffer, all of it in the end."""
    return lambda b: 1 - 0.5 * math.exp(-b / scale)


def meets_at(scale: float, target: float) -> int:
    """Smallest integer buffer at which `saturating` reaches the target."""
    return max(1, math.ceil(-scale * math.log(2 * (1 - target)) - 1e-9))


def delay_at(share: float) -> Curve:
    """Queueing delay of a queue that is filled to a share of its buffer, seconds."""
    return lambda b: share * b * 12_000 / 155e6


@pytest.fixture(scope="session")
def known() -> SimpleNamespace:
    return SimpleNamespace(
        asked=asked, Engine=KnownEngine, saturating=saturating, meets_at=meets_at,
        delay_at=delay_at, group=group,
    )  # fmt: skip
