"""An engine whose links follow a law, and a clock that its runs move."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forebay.engines.base import Engine
from forebay.outcome import ClassOutcome, LinkOutcome, Outcome, Provenance, Quantiles
from forebay.outcome.statistics import over_replications
from forebay.scenario import Scenario, loads

_LOOK_S = 0.05
"""Between two times that a run tells how far it is, as the simulator does."""


def link(rate: str, flows: int, goals: str = "utilization = 0.98", extra: str = "") -> Scenario:
    """Return a link with long flows of cubic, whose hosts are chosen."""
    return loads(
        f'name = "a link"\n[link]\nrate = "{rate}"\n{extra}\n[[traffic]]\nflows = {flows}\n'
        'congestion_control = "cubic"\noffload = "off"\n'
        f'rtt = {{ uniform = ["30 ms", "90 ms"] }}\n[goals]\n{goals}\n'
    )


def half_root(scenario: Scenario) -> float:
    """Return half of BDP/sqrt(n)."""
    return 0.5 * scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))


@dataclass
class KnownLinks(Engine):
    """Misses 98 % by less the larger the buffer; ``truth`` is where it does not.

    With ``lossy`` a share 0.76 / w**2 is lost, w packets being each flow's of path and buffer.
    """

    truth: Callable[[Scenario], float] = half_root
    packets_per_s: float = 1e7
    noise: float = 0.05
    name: str = "simulation"
    now: float = 0.0
    runs: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)
    stop_after: int | None = None
    lossy: bool = False
    played: dict[str, set[int]] = field(default_factory=dict)
    warmups: dict[float, float] = field(default_factory=dict)

    def clock(self) -> float:
        """Return the seconds that all runs so far have taken."""
        return self.now

    def run(
        self, scenario: Scenario, seeds: Sequence[int], *, jobs: int = 0, progress: Any = None
    ) -> Outcome:
        """Answer, with noise of seed and buffer, in the time that packets take."""
        rate, buffer = float(scenario.link.rate), scenario.buffer_packets
        self.runs.append((rate, buffer, tuple(seeds)))
        self.warmups[rate] = float(scenario.measure.warmup)
        if self.stop_after is not None and len(self.runs) > self.stop_after:
            raise KeyboardInterrupt
        seconds = float(scenario.measure.warmup + scenario.measure.duration)
        packets = rate / 12_000 * seconds * self._fresh(scenario, seeds) / max(jobs, 1)
        begun, takes = self.now, packets / self.packets_per_s
        while self.now < begun + takes:
            self.now = min(self.now + _LOOK_S, begun + takes)
            if progress is not None:
                progress((self.now - begun) / takes)
        self.played[scenario.sha256()].update(seeds)  # a run that was stopped has none
        harm = 0.02 * (buffer / self.truth(scenario)) ** -2.5
        idle = [min(harm * self._noise(seed, buffer), 1.0) for seed in seeds]
        window = (scenario.bdp_packets + buffer) / max(1, scenario.n_flows)
        lost = min(0.76 / window**2, 1.0) if self.lossy else 0.001
        return _outcome(scenario, [1 - each for each in idle], lost, list(seeds))

    def _fresh(self, scenario: Scenario, seeds: Sequence[int]) -> int:
        """Return how many replications are new: those played before take no time."""
        return len(set(seeds) - self.played.setdefault(scenario.sha256(), set()))

    def _noise(self, seed: int, buffer: int) -> float:
        own, shared = (np.random.default_rng(key).normal() for key in ((seed, buffer), (seed,)))
        return math.exp(self.noise * (0.5 * float(own) + float(shared)))


def _outcome(scenario: Scenario, used: list[float], lost: float, seeds: list[int]) -> Outcome:
    delay = scenario.buffer_packets * 12_000 / float(scenario.link.rate)
    waits = over_replications([delay] * len(seeds), (0.0, math.inf))
    none = over_replications([lost] * len(seeds), (0.0, 1.0))
    bottleneck = LinkOutcome(
        utilization=over_replications(used, (0.0, 1.0)),
        loss_rate=none,
        queue_packets=None,
        queue_delay_s=Quantiles(mean=waits, p50=waits, p95=waits, p99=waits),
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
    )
    throughput = over_replications([x * float(scenario.link.rate) for x in used], (0.0, math.inf))
    classes = [
        ClassOutcome(
            kind=group.kind, flows=int(group.flows), throughput_bps=throughput, goodput_bps=None,
            jain=None, rtt_s=None, loss_rate=none, timeouts=None, fct_s=None, name="long-0",
        )
        for group in scenario.traffic
    ]  # fmt: skip
    return Outcome(
        scenario=scenario.to_dict(), engine="simulation", links={"bottleneck": bottleneck},
        classes=classes, broken_assumptions=[],
        provenance=Provenance(
            version="0", seeds=seeds, scenario_sha256=scenario.sha256(), wall_s=0.0, packets=1
        ),
    )  # fmt: skip
