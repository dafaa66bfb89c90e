"""Replications of a scenario in the packet-level simulator."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay import _core
from forebay.engines.simulation.runs import make_run
from forebay.outcome import Outcome, Provenance, Reading, summarize
from forebay.replication import Watched, check_step, to_reading, to_trace

if TYPE_CHECKING:
    from forebay.engines.protocol import Progress
    from forebay.outcome.trace import Trace
    from forebay.scenario import Duration, Scenario

_KEPT = 64


class SimulationEngine:
    """Simulates one replication a seed, side by side on threads.

    The answer depends on the scenario and the seeds alone, not on the number of threads.
    Replications that this engine object has run before are not run again: a search that adds
    seeds to a buffer pays for the new ones only.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Reading] = {}

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "simulation"

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Simulate `scenario` once for each of `seeds`."""
        started = time.perf_counter()
        sha = scenario.sha256()
        missing = [seed for seed in seeds if (sha, seed) not in self._kept]
        fresh = _simulate(scenario, missing, jobs or os.cpu_count() or 1, progress)
        known = {seed: self._kept[sha, seed] for seed in seeds if seed not in missing} | fresh
        self._keep(sha, fresh)
        links, classes = summarize([known[seed] for seed in seeds], scenario.goals)
        return Outcome(
            scenario=scenario.to_dict(),
            engine=self.name,
            links=links,
            classes=classes,
            broken_assumptions=[],
            provenance=Provenance(
                version=_core.__version__,
                seeds=list(seeds),
                scenario_sha256=sha,
                wall_s=time.perf_counter() - started,
                packets=sum(known[seed].packets for seed in seeds),
            ),
        )

    def trace(
        self,
        scenario: Scenario,
        *,
        step: Duration,
        flows: Sequence[int],
        seed: int,
        progress: Progress | None = None,
    ) -> Trace:
        """Watch one replication over time."""
        check_step(scenario, step)
        run, _, layout = make_run(scenario, seed, Watched(step, tuple(flows)))
        (raw,) = _core.simulate([run], jobs=1, progress=progress)
        return to_trace(scenario, layout, raw, step=step, flows=flows, seed=seed)

    def _keep(self, sha: str, fresh: dict[int, Reading]) -> None:
        self._kept.update({(sha, seed): reading for seed, reading in fresh.items()})
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]


def _simulate(
    scenario: Scenario, seeds: list[int], jobs: int, progress: Progress | None
) -> dict[int, Reading]:
    made = {seed: make_run(scenario, seed) for seed in seeds}
    raw = _core.simulate([run for run, *_ in made.values()], jobs=jobs, progress=progress)
    return {
        seed: to_reading(scenario, seed, workload, layout, each)
        for (seed, (_, workload, layout)), each in zip(made.items(), raw, strict=True)
    }
