"""The highest rate that this machine can run: short trials, judged by the validity gate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.engines.testbed.one_run import run_once
from forebay.scenario import Duration, Rate, loads

if TYPE_CHECKING:
    from forebay.scenario import Scenario


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
    return Trial(scenario.link.rate, run.faults, run.gate)


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
    measure = scenario.measure
    short = {
        "warmup": Duration(min(measure.warmup, _WARMUP_S)),
        "duration": Duration(min(measure.duration, _WINDOW_S)),
    }
    return scenario.model_copy(
        update={
            "measure": measure.model_copy(update=short),
            "link": _slower(scenario.link, share),
            "links": tuple(_slower(link, share) for link in scenario.links),
        }
    )


def _slower(link: Any, share: float) -> Any:
    slower: dict[str, Any] = {"rate": Rate(link.rate * share)}
    if link.rate_trace is not None:
        slower["rate_trace"] = link.rate_trace.scaled(share)
    return link.model_copy(update=slower)
