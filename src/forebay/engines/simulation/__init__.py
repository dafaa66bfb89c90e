"""The simulation engine: the packet-level simulator `crates/sim` with the engine protocol.

The compiled core may be older than the catalogue, or newer. Its lists are compared when the engine
is made: with other controls, or other properties of one, an answer would be about something else.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from forebay import _core
from forebay.catalogue import CONTROLS, DISCIPLINES, Control, Discipline
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import NetworkTraffic, ReplicatingEngine, Replication
from forebay.engines.errors import EngineUnavailable, Unsupported
from forebay.engines.footprint import Limit, estimate
from forebay.engines.replication import FlowRows, SeedCache, check_step
from forebay.engines.replication.readings import Watched
from forebay.engines.simulation import networks
from forebay.engines.simulation.foreign_controls import isolates
from forebay.engines.simulation.isolated import STRUCTURES, Isolated, Kept, simulate, trace
from forebay.engines.simulation.runs import READINGS_SHARE, Draws, PacketFiles, check_links
from forebay.outcome import Outcome, Reading, checked, summarize, violations_of_readings
from forebay.outcome.model import KeptFlows
from forebay.outcome.trace import Trace
from forebay.progress import Progress
from forebay.scenario import Duration, Long, Scenario
from forebay.words import Fact

Facts = Iterable[tuple[str, object, object]]
"""Of a record: name, ours and the core's."""
_ROUNDING = 1 / 1024
"""Linux's arithmetic keeps shares of a window in 1024ths."""
_MARKS = {"loss": "as a loss", "fraction": "in proportion", "l4s": "in proportion", "ignored": "no"}


@cache
def check_core() -> None:
    """Refuse a core whose lists differ from the catalogue's. Raises EngineUnavailable."""
    if not hasattr(_core, "controllers"):
        raise _differs(Fact("core.unreadable"))
    controls = {controller["name"]: controller for controller in _core.controllers()}
    _compare("congestion control", CONTROLS, controls, _control)
    disciplines = {discipline["name"]: discipline for discipline in _core.disciplines()}
    by_tc = {discipline.in_tc: discipline for discipline in DISCIPLINES.values()}
    _compare("discipline", by_tc, disciplines, _discipline)


def _compare(
    what: str,
    ours: Mapping[str, Any],
    core: Mapping[str, Mapping[str, Any]],
    facts: Callable[[Any, Mapping[str, Any]], Facts],
) -> None:
    """Compare records with the core's, both ways."""
    for name in sorted(ours.keys() ^ core.keys()):
        raise _differs(Fact("core.lacks", core=name in ours, what=what, name=name))
    for name, record in ours.items():
        for fact, stated, built in facts(record, core[name]):
            if stated != built:
                raise _differs(Fact(
                    "core.has-other", fact=fact, what=what, name=name, built=built, stated=stated
                ))  # fmt: skip


def _control(record: Control, core: Mapping[str, Any]) -> Facts:
    yield "paced", record.paced, core["paced"]
    yield "is_model_based", record.is_model_based, core["decrease"] == "model"
    kept, built = record.kept_after_loss, core["kept_after_loss"]
    close = kept is not None and built is not None and abs(kept - built) < _ROUNDING
    yield "kept_after_loss", kept, kept if close else built
    yield "answers_marks", record.answers_marks, _MARKS[core["marks"]]
    yield "needs_ecn", record.needs_ecn, core["marks"] in ("fraction", "l4s")
    response = None if record.response is None else record.response.partition("-")[0]
    yield "response", response, core["response"]


def _discipline(record: Discipline, core: Mapping[str, Any]) -> Facts:
    parameters = core["parameters"]
    scenario_s = {name for name in parameters if name not in record.simulator_only}
    yield "parameters", sorted(record.parameters), sorted(scenario_s)
    for name, default in record.parameters.items():
        yield f"default of {name}", default, parameters[name]


def _differs(how: Fact) -> EngineUnavailable:
    return EngineUnavailable("engine-unavailable.other-core", engine="simulation", how=how)


class SimulationEngine(ReplicatingEngine):
    """Simulates one replication for each seed, in parallel threads.

    The result depends only on the scenario and the seeds, not on the number of threads. An engine
    object does not run a replication twice: a search that adds seeds simulates only the new ones.
    It draws each seed's workload once for all buffers.

    Raises EngineUnavailable: the core was built with other lists than the catalogue's.
    """

    name = "simulation"

    def __init__(self) -> None:
        check_core()
        self._files: PacketFiles | None = None
        self._flows: dict[int, FlowRows] | None = None
        self._isolated = Isolated()
        self._set_limit(Limit())

    def _set_limit(self, limit: Limit) -> None:
        self._limit = limit
        self._readings = SeedCache[Reading](READINGS_SHARE * limit.octets)
        self._draws = Draws(limit.octets)

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a run, in bytes."""
        self._set_limit(Limit(octets))

    def check(self, scenario: Scenario) -> float:
        """Return the bytes of one replication by estimate, 0 for a network.

        Raises TooMuchMemory, ScenarioError: it needs more than the limit; a discipline refuses its
        buffer.
        """
        if scenario.topology is not None:
            return 0.0
        takes = estimate(scenario, STRUCTURES)
        self._limit.check(takes, 1)
        check_links(scenario)
        return takes.least(1)

    def capture_to(self, path: Path) -> None:
        """Write the packets that leave links in the measured window there, as pcapng."""
        self._files = replace(self._files or PacketFiles(), capture=path)

    def packets_to(self, path: Path) -> None:
        """Write what becomes of each packet of the window at each link there: .csv, .parquet."""
        self._files = replace(self._files or PacketFiles(), table=path)

    def record_flows(self) -> None:
        """Keep a record of every flow of the next runs, in their Outcomes."""
        self._flows = {}

    def replications(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        effort: Effort = DEFAULT,
        buffers: Mapping[str, int] | None = None,
    ) -> dict[int, Replication]:
        """Simulate `scenario` once for each of `seeds`.

        ``buffers`` are those of a network's links, in packets by link name.

        Raises TooMuchMemory: the run would need, or has used, more memory than its limit.
        """
        buffers = buffers or {}
        sha = f"{scenario.sha256()}{sorted(buffers.items())}"
        # A known reading has no records and no packets.
        again = self._flows is not None or self._files is not None
        known = {} if again else self._readings.known(sha, seeds)
        missing = [seed for seed in seeds if seed not in known]
        effort = replace(effort, jobs=effort.threads)
        if missing and (outside := isolates(scenario)):
            recorded = self._flows is not None
            fresh, octets, flows = self._isolated.call(
                outside, "simulate", scenario, missing, effort.telling(None),
                self._limit.octets, dict(buffers), recorded, self._files, progress=effort.progress,
            )  # fmt: skip
            if self._flows is not None:
                self._flows |= flows
        else:
            fresh, octets = simulate(
                scenario, missing, effort, self._limit, buffers,
                Kept(self._draws, self._readings.held_bytes, self._flows, self._files),
            )  # fmt: skip
        for seed, reading in fresh.items():
            self._readings.put(sha, seed, reading, octets)
        known |= fresh
        return {seed: Replication(reading, {}) for seed, reading in known.items()}

    def run_with(
        self, scenario: Scenario, buffers: Mapping[str, int], seeds: Sequence[int], effort: Effort
    ) -> Outcome:
        """Like `run`, with the buffers of a network's links, in packets by link name."""
        started = time.perf_counter()
        by_seed = self.replications(scenario, seeds, effort, buffers)
        wall_s = time.perf_counter() - started
        return self.outcome(scenario, [by_seed[seed] for seed in seeds], wall_s)

    def outcome(
        self, scenario: Scenario, replications: Sequence[Replication], wall_s: float
    ) -> Outcome:
        """Summarize replications of `scenario`."""
        readings = [replication.reading for replication in replications]
        links, classes = summarize(readings, scenario.goals)
        network = None
        if scenario.topology is not None:
            links, network = networks.summarize_network(scenario, links, classes)
        facts: dict[str, object] = {
            "seeds": [reading.seed for reading in readings],
            "wall_s": wall_s,
            "packets": sum(reading.packets for reading in readings),
        }
        if outside := {name: control.facts for name, control in scenario.foreign_controls.items()}:
            facts["controls"] = outside
        outcome = Outcome.of(scenario, self.name, links, classes, facts, network=network)
        if self._flows is not None:
            outcome._keep_flows(KeptFlows([self._flows[reading.seed] for reading in readings]))
        return checked(outcome, violations_of_readings(readings))

    def size_links(
        self, scenario: Scenario, *, link: str | None, link_class: str | None
    ) -> networks.SizingSimulator:
        """See `SizingSimulator`."""
        return networks.SizingSimulator(self.run_with, scenario, link=link, link_class=link_class)

    def route(
        self,
        scenario: Scenario,
        *,
        progress: Progress | None = None,
        afford: Callable[[int, float], None] | None = None,
    ) -> NetworkTraffic:
        """Route a network, and say what a simulation of it has to move."""
        return networks.traffic_of(networks.route(scenario, self._limit, progress, afford)[0])

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
        check_step(scenario, step)
        if scenario.topology is not None:
            raise Unsupported(self.name, Fact("unsupported.trace-of-network"), "topology")
        for index, group in enumerate(scenario.traffic):
            if isinstance(group, Long) and group.schedule is not None:  # its rows are not flows
                what = Fact("unsupported.trace-of-schedule")
                raise Unsupported(self.name, what, f"traffic.{index}.schedule")
        of = (scenario, self._limit, Watched(step, tuple(flows)), seed)
        if outside := isolates(scenario):
            traced: Trace = self._isolated.call(outside, "trace", *of, progress=progress)
            return traced
        return trace(progress, *of)
