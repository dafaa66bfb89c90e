"""A Metric where a float stands, and an Outcome as a key."""

import math

import numpy as np
import pytest

import forebay
from forebay.outcome import Metric

METRIC = Metric(value=0.5, low=0.25, high=0.75, n=3)


def test_a_metric_compares_adds_rounds_and_formats_as_its_value() -> None:
    assert METRIC > 0.4 and METRIC <= 0.5 and not METRIC < 0.5 and METRIC >= 0
    assert METRIC < 0.6 and max(METRIC, Metric(value=1.0, low=None, high=None, n=1)).value == 1.0
    assert METRIC + 1 == 1.5 and 1 + METRIC == 1.5 and 1 - METRIC == 0.5 and METRIC - METRIC == 0
    assert sum([METRIC, METRIC]) == 1.0
    assert round(METRIC) == 0 and f"{METRIC:.2f}" == "0.50" and f"{METRIC:6.1%}" == " 50.0%"
    assert f"{METRIC}" == str(METRIC) == "0.5 (0.25 to 0.75)" and float(METRIC) == 0.5
    assert str(Metric(value=1.0, low=None, high=None, n=0)) == "1"
    assert str(Metric(value=1.0, low=0.5, high=None, n=2)) == "1 (0.5 to ?)"


def test_a_metric_is_no_number_to_what_is_none() -> None:
    with pytest.raises(TypeError):
        assert METRIC < "1"
    with pytest.raises(TypeError):
        METRIC + None
    assert METRIC != "0.5" and METRIC.model_copy() == METRIC


def test_equal_outcomes_have_one_hash() -> None:
    scenario = forebay.Scenario(
        link={"rate": "10 Mbit/s"}, traffic=[{"flows": 10, "rtt": {"uniform": ["40 ms", "60 ms"]}}]
    )
    one = forebay.run(scenario, "theory")
    assert len({one, forebay.Outcome.from_dict(one.to_dict())}) == 1


def test_a_metric_equals_a_number_and_has_the_other_operators_of_a_float() -> None:
    assert METRIC == 0.5 and METRIC != 0.4 and hash(METRIC) == hash(0.5)
    assert METRIC * 3 == 1.5 and 3 * METRIC == 1.5 and METRIC * METRIC == 0.25
    assert METRIC / 2 == 0.25 and 1 / METRIC == 2.0 and METRIC / METRIC == 1.0
    assert METRIC.model_copy(update={"low": 0.1}) != METRIC
    assert -METRIC == -0.5 and +METRIC == 0.5 and abs(-1 * METRIC) == 0.5 and abs(METRIC) == 0.5
    assert METRIC**2 == 0.25 and 4**METRIC == 2.0 and METRIC // 0.2 == 2.0 and 1 // METRIC == 2.0
    assert METRIC % 0.3 == 0.5 % 0.3 and 0.7 % METRIC == 0.7 % 0.5
    assert divmod(METRIC, 0.2) == divmod(0.5, 0.2) and divmod(2, METRIC) == (4.0, 0.0)
    many = METRIC.model_copy(update={"value": 7.9})
    assert int(many) == math.trunc(many) == math.floor(many) == 7 and math.ceil(many) == 8


def test_numpy_takes_a_metric_as_its_value() -> None:
    assert not np.isnan(METRIC) and np.sqrt(METRIC) == math.sqrt(0.5)
    assert np.array([METRIC, METRIC]).dtype == np.float64
    assert (np.array([1.0, 2.0]) * METRIC).tolist() == [0.5, 1.0]
    assert (METRIC * np.array([1.0, 2.0])).tolist() == [0.5, 1.0]
    assert METRIC + np.int64(1) == 1.5 and np.float64(1) - METRIC == 0.5
    assert np.mean([METRIC, METRIC]) == 0.5


def test_another_unit_moves_an_interval_too() -> None:
    whole = Metric(value=2.0, low=1.0, high=3.0, n=5)
    assert whole.scaled(10, -1) == Metric(value=19.0, low=9.0, high=29.0, n=5)
    assert Metric(value=2.0, low=None, high=None, n=1).scaled(2).low is None
