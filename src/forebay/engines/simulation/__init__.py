"""The simulation engine: the packet-level simulator `crates/sim` with the engine protocol."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import _core
from forebay.engines.base import (
    Capabilities,
    NetworkTraffic,
    ReplicatingEngine,
    Replication,
)
from forebay.engines.errors import Unsupported
from forebay.engines.footprint import Limit, estimate
from forebay.engines.replication import SeedCache, Watched
from forebay.engines.simulation.core_lists import check_core
from forebay.engines.simulation.foreign_controls import faults_named, isolates, watched
from forebay.engines.simulation.isolated import Isolated
from forebay.engines.simulation.runs import (
    DRAWS_SHARE,
    READINGS_SHARE,
    Draws,
    check_links,
    make_run,
)
from forebay.engines.simulation.side_by_side import STRUCTURES, Kept, simulate
from forebay.errors import panics_as_defects
from forebay.outcome import (
    Outcome,
    Provenance,
    Reading,
    checked,
    summarize,
    violations_of_readings,
)
from forebay.scenario import Long
from forebay.scenario.model import document_and_hash

if TYPE_CHECKING:
    from forebay.engines.replication import FlowRows
    from forebay.engines.simulation.packet_files import PacketFiles
    from forebay.engines.simulation.sizing_simulator import SizingSimulator
    from forebay.outcome.trace import Trace
    from forebay.progress import Progress
    from forebay.scenario import Duration, Scenario


class SimulationEngine(ReplicatingEngine):
    """Simulates one replication for each seed, in parallel threads.

    The result depends only on the scenario and the seeds, not on the number of threads. An engine
    object does not run a replication twice: a search that adds seeds simulates only the new ones.
    It draws each seed's workload once for all buffers.

    Raises
    ------
    EngineUnavailable
        The core was built with other lists than the catalogue's.
    """

    def __init__(self) -> None:
        check_core()
        self._files: PacketFiles | None = None
        self._flows: dict[int, FlowRows] | None = None
        self._isolated = Isolated()
        self._set_limit(Limit())

    def _set_limit(self, limit: Limit) -> None:
        self._limit = limit
        self._readings = SeedCache[Reading](READINGS_SHARE * limit.octets)
        self._draws = Draws(int(DRAWS_SHARE * limit.octets))

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "simulation"

    @property
    def capabilities(self) -> Capabilities:
        """All but counters of other programs."""
        return Capabilities(
            limit_memory=self.limit_memory,
            check=self.check,
            capture_to=self.capture_to,
            packets_to=self.packets_to,
            record_flows=self.record_flows,
            trace=self.trace,
            size_links=self.size_links,
            route=self.route,
        )

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a run, in bytes."""
        self._set_limit(Limit(octets))

    def check(self, scenario: Scenario) -> float:
        """Return the bytes of one replication by estimate, 0 for a network.

        Raises
        ------
        TooMuchMemory, ScenarioError
            It needs more than the limit; a discipline refuses its buffer.
        """
        if scenario.topology is not None:
            return 0.0
        takes = estimate(scenario, STRUCTURES)
        self._limit.check(takes, 1)
        check_links(scenario)
        return takes.least(1)

    def capture_to(self, path: Path) -> None:
        """Write the packets that leave links in the measured window there, as pcapng."""
        self._write_packets(capture=path)

    def packets_to(self, path: Path) -> None:
        """Write what becomes of each packet of the window at each link there: .csv, .parquet."""
        self._write_packets(table=path)

    def _write_packets(self, **paths: Path) -> None:
        from forebay.engines.simulation.packet_files import PacketFiles

        self._files = replace(self._files or PacketFiles(), **paths)

    def record_flows(self) -> None:
        """Keep a record of every flow of the next runs, in their Outcomes."""
        self._flows = {}

    def replications(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> dict[int, Replication]:
        """Simulate `scenario` once for each of `seeds`.

        Raises
        ------
        TooMuchMemory
            The run would need, or has used, more memory than its limit.
        """
        return self._replications(scenario, {}, seeds, jobs, progress)

    def run_with(
        self,
        scenario: Scenario,
        buffers: Mapping[str, int],
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Like `run`, with the buffers of a network's links, in packets by link name."""
        started = time.perf_counter()
        made = self._replications(scenario, buffers, seeds, jobs, progress)
        return self.outcome(scenario, [made[seed] for seed in seeds], time.perf_counter() - started)

    def _replications(
        self,
        scenario: Scenario,
        buffers: Mapping[str, int],
        seeds: Sequence[int],
        jobs: int,
        progress: Progress | None,
    ) -> dict[int, Replication]:
        sha = f"{scenario.sha256()}{sorted(buffers.items())}"
        # A known reading has no records and no packets.
        again = self._flows is not None or self._files is not None
        known = {} if again else self._readings.known(sha, seeds)
        missing = [seed for seed in seeds if seed not in known]
        threads = jobs or os.cpu_count() or 1
        if missing and (outside := isolates(scenario)):
            recorded = self._flows is not None
            fresh, each_bytes, flows = self._isolated.call(
                outside, "simulate", scenario, missing, threads, self._limit.octets,
                dict(buffers), recorded, self._files, progress=progress,
            )  # fmt: skip
            if self._flows is not None:
                self._flows |= flows
        else:
            fresh, each_bytes = simulate(
                scenario, missing, threads, progress, self._limit, buffers,
                Kept(self._draws, self._readings.held_bytes, self._flows, self._files),
            )  # fmt: skip
        for seed, reading in fresh.items():
            self._readings.put(sha, seed, reading, each_bytes)
        known |= fresh
        return {seed: Replication(reading, {}) for seed, reading in known.items()}

    def outcome(
        self, scenario: Scenario, replications: Sequence[Replication], wall_s: float
    ) -> Outcome:
        """Summarize replications of `scenario`."""
        readings = [each.reading for each in replications]
        links, classes = summarize(readings, scenario.goals)
        network = None
        if scenario.topology is not None:
            from forebay.engines.simulation.network_totals import summarize_network

            links, network = summarize_network(scenario, links, classes)
        document, sha256 = document_and_hash(scenario)
        outcome = Outcome(
            scenario=document,
            engine=self.name,
            links=links,
            classes=classes,
            broken_assumptions=[],
            provenance=Provenance(
                version=_core.__version__,
                seeds=[reading.seed for reading in readings],
                scenario_sha256=sha256,
                wall_s=wall_s,
                packets=sum(reading.packets for reading in readings),
                **_of_controls(scenario),
            ),
            network=network,
        )
        if scenario.files:
            outcome._keep_scenario(scenario)
        if self._flows is not None:
            from forebay.outcome.flow_table import KeptFlows

            outcome._keep_flows(KeptFlows([self._flows[reading.seed] for reading in readings]))
        return checked(outcome, violations_of_readings(readings))

    def size_links(
        self, scenario: Scenario, *, link: str | None, link_class: str | None
    ) -> SizingSimulator:
        """Return an engine that varies the buffer of one link of a network, or of one link class.

        Raises
        ------
        ScenarioError, Unsupported
            See `SizingSimulator`.
        """
        from forebay.engines.simulation.sizing_simulator import SizingSimulator

        return SizingSimulator(self, scenario, link=link, link_class=link_class)

    def route(
        self,
        scenario: Scenario,
        *,
        progress: Progress | None = None,
        afford: Callable[[int, float], None] | None = None,
    ) -> NetworkTraffic:
        """Route a network, and say what a simulation of it has to move."""
        from forebay.engines.simulation.routing import route, traffic_of

        return traffic_of(route(scenario, self._limit, progress, afford)[0])

    def trace(
        self,
        scenario: Scenario,
        *,
        step: Duration,
        flows: Sequence[int],
        seed: int,
        progress: Progress | None = None,
    ) -> Trace:
        """Trace one replication over time."""
        if outside := isolates(scenario):
            traced: Trace = self._isolated.call(
                outside, "trace", scenario, self._limit.octets, step, list(flows), seed,
                progress=progress,
            )  # fmt: skip
            return traced
        return self.trace_here(scenario, step=step, flows=flows, seed=seed, progress=progress)

    def trace_here(
        self,
        scenario: Scenario,
        *,
        step: Duration,
        flows: Sequence[int],
        seed: int,
        progress: Progress | None = None,
    ) -> Trace:
        """Trace in this process."""
        from forebay.engines.replication import check_step, to_trace

        check_step(scenario, step)
        if scenario.topology is not None:
            raise Unsupported(self.name, "a trace of a whole network", "topology")
        _refuse_schedules(scenario)
        samples = int(scenario.measure.duration / step) + 1
        self._limit.check(estimate(scenario, STRUCTURES, samples=samples, watched=len(flows)), 1)
        run, workload, layout = make_run(scenario, seed, Watched(step, tuple(flows)))
        with panics_as_defects(), faults_named(), watched():
            (raw,) = _core.simulate([run], jobs=1, progress=self._limit.watch(progress))
        return to_trace(scenario, layout, raw, workload, step=step, flows=flows, seed=seed)


def _refuse_schedules(scenario: Scenario) -> None:
    """Raise Unsupported for a trace of flows whose numbers are not those of their connections."""
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Long) and group.schedule is not None:
            wrong = "a trace of flows that are switched on and off"
            raise Unsupported("simulation", wrong, f"traffic.{index}.schedule")


def _of_controls(scenario: Scenario) -> dict[str, Any]:
    """Return what the provenance says of controls from outside; nothing without any."""
    outside = scenario.foreign_controls
    return {"controls": {name: each.facts for name, each in outside.items()}} if outside else {}
