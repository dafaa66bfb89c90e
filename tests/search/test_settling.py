"""Settling and memory of series that are known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.known_links import link

from forebay import engines
from forebay.search.parameter import parameter_of
from forebay.search.settling import Settling, least_warmup, measure_for, memory, settled, watch


def test_a_ramp_is_cut_off_and_what_follows_is_kept() -> None:
    noise = np.random.default_rng(1).normal(size=1200)
    ramp = np.concatenate([np.linspace(-50, 0, 200), np.zeros(1000)])
    assert 180 <= settled(ramp + noise) <= 260


def test_a_steady_series_is_kept_whole_or_nearly_so() -> None:
    assert settled(np.random.default_rng(2).normal(size=1200)) <= 300


@pytest.mark.parametrize("keeps", [0.0, 0.8, 0.95])
def test_the_memory_of_an_autoregression(keeps: float) -> None:
    chance, values = np.random.default_rng(3), [0.0]
    for _ in range(20_000):
        values.append(keeps * values[-1] + chance.normal())
    known = (1 + keeps) / (1 - keeps)  # Sokal 1997, the integrated time of AR(1)
    assert memory(np.array(values)) == pytest.approx(known, rel=0.25)


def test_a_series_that_does_not_move_remembers_nothing() -> None:
    assert memory(np.full(100, 7.0)) == 1.0


def test_a_warm_up_outlasts_every_start_and_a_window_every_memory() -> None:
    scenario = link("100 Mbit/s", 20)
    short = measure_for(scenario, Settling(1.0, 0.01))
    assert short.warmup >= 10.0 + 20 * 0.06 - 0.1  # starts are spread over 10 s
    assert short.duration == 20.0
    assert measure_for(scenario, Settling(30.0, 0.5)).duration == 30.0
    assert least_warmup(scenario) < 37.5 == measure_for(scenario, Settling(30.0, 0.5)).warmup


def test_a_link_is_watched_from_its_start() -> None:
    scenario, engine = link("10 Mbit/s", 5), engines.get("simulation")
    trace = engine.capabilities.trace
    assert trace is not None
    seen = watch(scenario, trace, parameter_of(scenario, "simulation", 100), 20, seed=1)
    assert 0.0 <= seen.settled_s <= 30.0
    assert 0.0 < seen.memory_s < 30.0


def test_a_measurement_that_does_not_fit_is_shortened_in_proportion() -> None:
    from forebay.scenario import Duration, Measure
    from forebay.search.settled import fitting

    now = Measure(warmup=Duration(1.0), duration=Duration(10.0))
    wanted = Measure(warmup=Duration(60.0), duration=Duration(60.0))
    scenario = link("100 Mbit/s", 10).model_copy(update={"measure": now})
    made = fitting(scenario, wanted, 60.0)
    assert made is not None
    assert float(made.measure.duration) == pytest.approx(30.0, abs=0.2)
    assert float(made.measure.warmup) == pytest.approx(30.0, abs=0.2)
    assert fitting(scenario, wanted, 11.0) is None
