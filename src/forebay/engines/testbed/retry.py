"""A run that fails the gate is repeated up to a limit; then the engine raises an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.engines.testbed.capacity import holds_below
from forebay.engines.testbed.errors import GateFailed
from forebay.engines.testbed.one_run import FinishedRun, run_once
from forebay.engines.testbed.steal import StealMonitor
from forebay.engines.testbed.validity import is_stall

if TYPE_CHECKING:
    from forebay.engines.replication import Watched
    from forebay.progress import Progress
    from forebay.scenario import Scenario

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
) -> tuple[FinishedRun, list[list[str]]]:
    """Return the first valid run, and the faults of the runs before it.

    Raises
    ------
    GateFailed
        No run of ``ATTEMPTS`` is valid. It gives the faults and a rate that this machine can run.
    """
    failed: list[list[str]] = []
    watch = StealMonitor()
    while len(failed) < ATTEMPTS:
        run = run_once(
            scenario, seed, progress=progress, watched=watched, capture=capture, counters=counters
        )
        if not run.faults:
            return run, failed
        failed.append(run.faults)
    raise refusal(scenario, failed, watch.share())


def refusal(scenario: Scenario, failed: list[list[str]], steal: float) -> GateFailed:
    """Return the error with the faults and a rate that this machine can run instead."""
    taken = f"the hypervisor took {steal:.1%} of a core's time; "
    holds = holds_below(scenario)
    able = "no smaller rate that was tried" if holds is None else f"{holds}"
    return GateFailed(
        f"{len(failed)} runs missed their timing limits ({'; '.join(failed[-1])}); "
        f"{taken if steal >= _NOTEWORTHY else ''}this machine can run {able} of such traffic now",
        "leave the machine idle, write a lower link.rate, or choose another engine",
        steal,
        stalled=all(is_stall(fault) for each in failed for fault in each),
    )
