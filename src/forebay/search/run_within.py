"""One run within a time limit: unchanged if it fits, else over a shorter window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from forebay.scenario import Duration, Measure
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.settling import least_warmup
from forebay.search.stopping import RESERVE

if TYPE_CHECKING:
    from forebay.scenario import Scenario

_SHORTEST_S = 5.0


def predict_run(scenario: Scenario, seeds: int, jobs: int = 0) -> float:
    """Return the predicted seconds of ``seeds`` replications."""
    simulated = float(scenario.measure.warmup + scenario.measure.duration)
    return Speed(jobs or os.cpu_count() or 1).wall_s(scenario, simulated, seeds)


def fitted(scenario: Scenario, budget_s: float, seeds: int, jobs: int = 0) -> Scenario:
    """Return the scenario with a warm-up and a window that fit into the time.

    A window that the scenario sets is not changed. A run, unlike a sizing, simulates one given
    buffer, which no smaller link has.

    Raises
    ------
    TooLittleTime
        Even the shortest ones do not fit.
    """
    whole = predict_run(scenario, seeds, jobs)
    if whole <= budget_s:
        return scenario
    if "measure" in scenario.model_fields_set:
        raise TooLittleTime("the scenario sets how long is measured", whole, budget_s)
    measure = scenario.measure
    share = RESERVE * budget_s / whole
    simulated = share * float(measure.warmup + measure.duration)
    warmup = min(float(measure.warmup), least_warmup(scenario))
    if simulated - warmup < _SHORTEST_S:
        raise TooLittleTime(
            "a run needs this one buffer, which no smaller link has", whole, budget_s
        )
    update = Measure(warmup=Duration(warmup), duration=Duration(round(simulated - warmup, 1)))
    return scenario.model_copy(update={"measure": update})
