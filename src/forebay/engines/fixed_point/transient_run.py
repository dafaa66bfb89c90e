"""A scenario's network through time: its equations, its first moment, its steps, its answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.fixed_point.balance import Balance, make_balance
from forebay.engines.fixed_point.errors import NoNetwork, NoSteadyState
from forebay.engines.fixed_point.sampling import Recorder, transient_of
from forebay.engines.fixed_point.solver import Solution, solve
from forebay.engines.fixed_point.stepping import (
    MOST_STEPS,
    Moment,
    Stepper,
    Swings,
    check_model,
    moment_of,
    run,
    stable_step,
)
from forebay.topology import make_problem

if TYPE_CHECKING:
    from forebay.outcome.transient import Transient
    from forebay.progress import Progress
    from forebay.scenario import Scenario, ScenarioError

_TRIED = 20
_REPORT_EVERY = 50


def step_through(
    scenario: Scenario,
    duration: str,
    *,
    start: Scenario | None = None,
    step: str | None = None,
    samples: int = 400,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> Transient:
    """See `forebay.api.networks.transient`."""
    length_s = _seconds("transient", duration, "2 s")
    own_s = None if step is None else _seconds("step", step, "100 us")
    if own_s is not None and own_s > length_s:
        raise _refuse("step", f"{step} is longer than {duration}", "write a shorter step")
    balance = _balance(scenario)
    check_model(balance)
    steady = _steady(balance)
    step_s = stable_step(balance, steady) if own_s is None else own_s
    steps = _steps(length_s, step_s)
    stepper = Stepper(balance, length_s / steps)
    begin = stepper.cold() if start is None else moment_of(solve(_balance(start)), balance)
    if expect is not None:
        expect(steps * _seconds_a_step(stepper, begin))
    recorder, swings = Recorder(stepper), Swings(balance.problem.buffer_packets[balance.used])
    every = np.unique(np.round(np.linspace(0, steps, max(samples, 2))).astype(np.int64))
    begun = time.process_time()

    def answer() -> Transient:
        spent_s = time.process_time() - begun
        return transient_of(recorder, swings, steady, scenario, start, spent_s)

    try:
        with np.errstate(over="ignore", under="ignore"):
            for done in run(stepper, begin, steps, every, recorder.record, swings):
                if progress is not None and done % _REPORT_EVERY == 0:
                    progress(done / steps)
    except KeyboardInterrupt as stop:
        if recorder.rows:
            stop.result = answer()  # type: ignore[attr-defined]  # as that of a stopped sizing
        raise
    return answer()


def _refuse(field: str, wrong: str, hint: str) -> ScenarioError:
    from forebay.scenario import ScenarioError

    return ScenarioError("time", wrong, hint, field=field)


def _seconds(field: str, text: str, instead: str) -> float:
    """Read a time above 0. Raises ScenarioError."""
    from forebay.scenario import Duration

    seconds = float(Duration.parse_argument(field, text))
    if not seconds > 0.0:
        raise _refuse(field, f"{text} is not above 0", f'write a time such as "{instead}"')
    return seconds


def _balance(scenario: Scenario) -> Balance:
    from forebay.engines.fixed_point.engine import check_marks

    if scenario.topology is None:
        raise NoNetwork
    check_marks(scenario)
    return make_balance(make_problem(scenario), scenario.topology)


def _steady(balance: Balance) -> Solution | None:
    try:
        return solve(balance)
    except NoSteadyState:
        return None


def _steps(length_s: float, step_s: float) -> int:
    steps = max(1, math.ceil(length_s / step_s * (1.0 - 1e-9)))
    if steps > MOST_STEPS:
        wrong = f"{length_s:g} s take {steps:,} steps of {step_s:.2g} s, more than {MOST_STEPS:,}"
        raise _refuse("step", wrong, "write a shorter time, or a longer step")
    return steps


def _seconds_a_step(stepper: Stepper, begin: Moment) -> float:
    at, begun = begin, time.perf_counter()
    for _ in range(_TRIED):
        at, _ = stepper.step(at)
    return (time.perf_counter() - begun) / _TRIED
