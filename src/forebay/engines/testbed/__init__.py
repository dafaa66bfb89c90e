"""Runs the replications of a scenario on the TCP of this machine, one after the other."""

from collections.abc import Sequence
from pathlib import Path

from forebay.effort import DEFAULT, Effort
from forebay.engines.base import ReplicatingEngine, Replication
from forebay.engines.errors import refuse_features
from forebay.engines.footprint import Limit, estimate
from forebay.engines.replication import SeedCache, check_step, to_trace
from forebay.engines.replication.readings import Watched, to_reading
from forebay.engines.testbed import counters, machine
from forebay.engines.testbed.errors import NAME
from forebay.engines.testbed.one_run import FinishedRun, controls_of
from forebay.engines.testbed.plan import broken
from forebay.engines.testbed.retry import disturbed, run_until_valid
from forebay.outcome import Outcome, checked, summarize, violations_of_readings
from forebay.outcome.trace import Trace
from forebay.progress import Progress, part
from forebay.scenario import Duration, Scenario
from forebay.words import Fact


class TestbedEngine(ReplicatingEngine):
    """Runs one replication per seed in real time: a run takes warm-up plus window.

    Replications never run in parallel, for any ``jobs``: they would share the cores that
    each needs alone to be on time. This engine object does not repeat a replication that it has
    run before.
    """

    __test__ = False  # not a test case, although its name begins with Test
    name = NAME

    def __init__(self) -> None:
        machine.check()
        self._runs = SeedCache[Replication]()
        self._capture: Path | None = None
        self._counters: tuple[str, ...] = ()
        self._limit = Limit()

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a run, in bytes, instead of the default."""
        self._limit = Limit(octets)

    def capture_to(self, path: Path) -> None:
        """Write the packets that leave each link to a pcapng file, with one interface per link."""
        self._capture = path

    def count_by(self, names: Sequence[str]) -> None:
        """Also read the counters of other programs during a run: ``"snmp"``, ``"netflow"``.

        Raises EngineUnavailable: the program of one of them is not installed.
        """
        counters.check(names)
        self._counters = tuple(dict.fromkeys(names))
        self._runs.clear()

    def replications(
        self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT
    ) -> dict[int, Replication]:
        """Run `scenario` once for each of `seeds`; one after the other.

        Raises EngineUnavailable: the machine cannot run it, or lacks a congestion control;
        TooMuchMemory; TestbedError: the kernel refused a step, or no run of a seed passed the gate.
        """
        refuse_features(
            NAME, scenario, "topology", "reorder", "framing", "stop", "requests", "transfers"
        )
        sha = scenario.sha256()
        known = self._runs.known(sha, seeds)
        missing = [seed for seed in seeds if seed not in known]
        self._limit.check(estimate(scenario, {}), len(missing))
        for place, seed in enumerate(missing):
            told = part(effort.progress, place, len(missing))
            run, failed = run_until_valid(
                scenario, seed, progress=told, capture=self._capture, counters=self._counters
            )
            known[seed] = _read(scenario, seed, run, failed)
            self._runs.put(sha, seed, known[seed])
        return known

    def outcome(
        self, scenario: Scenario, replications: Sequence[Replication], wall_s: float
    ) -> Outcome:
        """Summarize replications of `scenario`."""
        readings = [replication.reading for replication in replications]
        links, classes = summarize(readings, scenario.goals)
        records = [replication.facts["record"] for replication in replications]
        facts = {
            "seeds": [reading.seed for reading in readings],
            "wall_s": wall_s,
            "packets": sum(reading.packets for reading in readings),
            "machine": machine.describe(controls_of(scenario)),
            "sysctls": replications[0].facts["sysctls"],
            "runs": records,
        }
        outcome = Outcome.of(
            scenario, self.name, links, classes, facts, broken=broken(scenario),
            disturbed=disturbed([record["gate"] for record in records]),
        )  # fmt: skip
        return checked(outcome, violations_of_readings(readings))

    def trace(
        self,
        scenario: Scenario,
        *,
        step: Duration,
        flows: Sequence[int],
        seed: int,
        progress: Progress | None = None,
    ) -> Trace:
        """Trace one replication over time; `run` then reuses it and does not run it again."""
        check_step(scenario, step)
        samples = int(scenario.measure.duration / step) + 1
        self._limit.check(estimate(scenario, {}, samples=samples, watched=len(flows)), 1)
        watched = Watched(step, tuple(flows))
        run, failed = run_until_valid(scenario, seed, progress=progress, watched=watched)
        self._runs.put(scenario.sha256(), seed, _read(scenario, seed, run, failed))
        return to_trace(scenario, run.layout, run.raw, run.workload, watched, seed)


def _read(scenario: Scenario, seed: int, run: FinishedRun, failed: list[list[Fact]]) -> Replication:
    reading = to_reading(scenario, seed, run.workload, run.layout, run.raw, handshakes=True)
    invalid = [list(map(str, faults)) for faults in failed]
    record = {"seed": seed, "gate": run.gate, "invalid": invalid, "emulator": run.emulator}
    record |= {"counters": run.counters} if run.counters else {}
    return Replication(reading, {"sysctls": run.sysctls, "record": record})
