"""A run that fails the gate is repeated up to a limit; then the engine raises an error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forebay.engines.replication.readings import Watched
from forebay.engines.testbed.errors import GateFailed
from forebay.engines.testbed.one_run import FinishedRun, run_once
from forebay.engines.testbed.validity import is_stall
from forebay.progress import Progress
from forebay.scenario import Duration, Rate, Scenario, loads
from forebay.words import Fact

LADDER_MBPS = (10, 50, 100, 155, 311, 500, 622, 1000)
"""Rates that are tried in turn if no scenario is given."""
_WARMUP_S = 5.0
_WINDOW_S = 4.0
_SMALLER = (0.75, 0.5, 0.25)
_TRIAL = """
name = "Trial"
[link]
rate = "{rate} Mbit/s"
[queue]
size = "1 bdp/sqrt(n)"
[[traffic]]
flows = 100
rtt = {{ uniform = ["20 ms", "60 ms"] }}
start = {{ uniform = ["0 s", "500 ms"] }}
[measure]
warmup = "1 s"
duration = "3 s"
"""


@dataclass(frozen=True)
class Trial:
    """One short run: its rate, and the faults that the gate found."""

    rate: Rate
    faults: list[str]
    gate: dict[str, float]

    @property
    def holds(self) -> bool:
        """Whether the run passed the gate."""
        return not self.faults


def try_out(scenario: Scenario) -> Trial:
    """Run the first seconds of a scenario and apply the gate."""
    run = run_once(_short(scenario, 1.0), 1)
    return Trial(scenario.link.rate, list(map(str, run.faults)), run.gate)


def climb() -> Iterator[Trial]:
    """Run a hundred Reno flows at rising rates, until a run fails the gate."""
    for rate in LADDER_MBPS:
        trial = try_out(loads(_TRIAL.format(rate=rate), source="testbed check"))
        yield trial
        if not trial.holds:
            return


def holds_below(scenario: Scenario) -> Rate | None:
    """Return the first of some lower rates at which the scenario's traffic passes the gate."""
    for share in _SMALLER:
        slower = _short(scenario, share)
        if not run_once(slower, 1).faults:
            return slower.link.rate
    return None


def _short(scenario: Scenario, share: float) -> Scenario:
    """Return the scenario with a short window and its link rates multiplied by `share`."""
    measure, factor = scenario.measure, 1.0 / share
    short = {
        "warmup": Duration(min(measure.warmup, _WARMUP_S)),
        "duration": Duration(min(measure.duration, _WINDOW_S)),
    }
    slower = {
        "link": scenario.link.slower(factor),
        "links": tuple(link.slower(factor) for link in scenario.links),
        "measure": measure.model_copy(update=short),
    }
    return scenario.model_copy(update=slower)


_STATISTICS = Path("/proc/stat")
_TIMES, _STEAL = 8, 7  # proc(5): user nice system idle iowait irq softirq steal, a line a core
_CORE = re.compile(r"cpu\d+ ")


def _ticks() -> dict[str, tuple[int, int]]:
    """Return stolen time and total time of each core since boot, in ticks."""
    counted = {}
    for line in filter(_CORE.match, _STATISTICS.read_text().split("\n")):
        core, *words = line.split()[: 1 + _TIMES]
        times = [int(word) for word in words]
        counted[core] = (times[_STEAL], sum(times))
    return counted


@dataclass(frozen=True)
class StealMonitor:
    """Measures steal from its creation on."""

    _begun: dict[str, tuple[int, int]] = field(default_factory=_ticks)

    def share(self) -> float:
        """Return the largest steal share of a core since creation; 0 without a hypervisor.

        The router runs on one core at a time, so the mean over all cores is less informative.
        """
        shares = [0.0]
        for name, now in _ticks().items():
            taken, passed = (a - b for a, b in zip(now, self._begun.get(name, now), strict=True))
            shares.append(taken / passed if passed > 0 else 0.0)
        return max(shares)


ATTEMPTS = 3
_NOTEWORTHY = 0.01


def run_until_valid(
    scenario: Scenario,
    seed: int,
    *,
    progress: Progress | None = None,
    watched: Watched | None = None,
    capture: Path | None = None,
    counters: Sequence[str] = (),
) -> tuple[FinishedRun, list[list[Fact]]]:
    """Return the first valid run, and the faults of the runs before it.

    Raises GateFailed: no run of ``ATTEMPTS`` is valid. It gives the faults and a rate that this
    machine can run.
    """
    failed: list[list[Fact]] = []
    watch = StealMonitor()
    while len(failed) < ATTEMPTS:
        run = run_once(
            scenario, seed, progress=progress, watched=watched, capture=capture, counters=counters
        )
        if not run.faults:
            return run, failed
        failed.append(run.faults)
    raise refusal(scenario, failed, watch.share())


def refusal(scenario: Scenario, failed: list[list[Fact]], steal: float) -> GateFailed:
    """Return the error with the faults and a rate that this machine can run instead."""
    return GateFailed(
        "gate-failed.limits", steal, all(is_stall(fault) for run in failed for fault in run),
        runs=len(failed), faults="; ".join(map(str, failed[-1])), stolen=steal >= _NOTEWORTHY,
        able=holds_below(scenario) or Fact("gate-failed.no-rate"),
    )  # fmt: skip


NOTICED = 0.05
"""Share of the losses from which stalls are said. A stall of 5 ms in 30 s made a quarter of those
of ten Reno flows at 500 Mbit/s, which lose 0.02 %; where BBR loses 10 % it is nothing."""


def disturbed(gates: Sequence[Mapping[str, float]]) -> tuple[Fact, ...]:
    """Return a fact if stalls explain much of the losses of these runs.

    Parameters
    ----------
    gates : each run's gate readings: ``drops``, and ``stall_drops``, those within a round trip and
        the shortest buffer's drain time after a stall of a quarter of that time.
    """
    drops = int(sum(gate.get("drops", 0) for gate in gates))
    after = int(sum(gate.get("stall_drops", 0) for gate in gates))
    if after < NOTICED * drops or not after:
        return ()
    return (Fact("testbed.stalled", after=after, drops=drops, share=after / drops),)
