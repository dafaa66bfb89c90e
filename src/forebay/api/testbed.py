"""Checks what the testbed can run on this machine.

>>> from forebay import testbed
>>> testbed.check(scenario).holds
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from forebay.engines.testbed import machine
from forebay.engines.testbed.registry import remove_leftovers
from forebay.engines.testbed.retry import LADDER_MBPS, Trial, climb, try_out
from forebay.scenario import Rate, Scenario, expect_scenario

__all__ = ["LADDER_MBPS", "Check", "Trial", "check", "remove_leftovers"]


@dataclass(frozen=True)
class Check:
    """Results of short runs on this machine.

    Attributes
    ----------
    scenario : Trial or None
        The first seconds of the scenario; None without a scenario.
    ladder : tuple of Trial
        A hundred Reno flows at rising rates, up to the first rate that fails.
    """

    scenario: Trial | None
    ladder: tuple[Trial, ...]

    @property
    def rate(self) -> Rate | None:
        """The highest rate that met the timing limits, bit/s; None if none did."""
        held = [trial.rate for trial in self.ladder if trial.holds]
        return held[-1] if held else None

    @property
    def holds(self) -> bool:
        """Whether the scenario met the timing limits or, without one, any rate did."""
        return self.rate is not None if self.scenario is None else self.scenario.holds


def check(
    scenario: Scenario | None = None, *, on_trial: Callable[[Trial], None] | None = None
) -> Check:
    """Run a few seconds of a scenario, then of rising rates, and check each run's timing limits.

    Parameters
    ----------
    on_trial : called after each short run.

    Raises
    ------
    EngineUnavailable
        The testbed cannot run on this machine; the text says what is missing.
    """
    if scenario is not None:
        expect_scenario(scenario)
    machine.check()
    trials = []
    for trial in chain([] if scenario is None else [try_out(scenario)], climb()):
        trials.append(trial)
        if on_trial is not None:
            on_trial(trial)
    return Check(None, tuple(trials)) if scenario is None else Check(trials[0], tuple(trials[1:]))
