"""Extrapolation of crossings of scaled links to the full-size link."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forebay.search.strategies.crossing.crossing import Crossing
from forebay.search.strategies.scaling.extrapolate import extrapolate


def crossing(packets: float, error: float = 0.02) -> Crossing:
    return Crossing(packets, packets, packets, error, 6, "inside", ())


def links(law, factors, noise=0.0, seed=0):
    chance = np.random.default_rng(seed)
    return [
        crossing(law(1 / k) * math.exp(chance.normal(0.0, noise)), max(noise, 0.01))
        for k in factors
    ]


LAWS = {
    "root": lambda x: 3000 * math.sqrt(x),
    "none": lambda x: 20.0,
    "both": lambda x: 15 + 100 * math.sqrt(x),
    "between": lambda x: 300 * x**0.25,
}


@pytest.mark.parametrize("name", LAWS)
def test_each_law_is_carried_over(name: str) -> None:
    law = LAWS[name]
    found = extrapolate((10, 40, 160), links(law, (10, 40, 160)), 0.5)
    assert found.low <= law(1) <= found.high


def test_what_does_not_grow_is_carried_over_as_it_is() -> None:
    found = extrapolate((10, 40, 160), links(LAWS["none"], (10, 40, 160)), 0.5)
    assert found.packets == pytest.approx(20.0, rel=0.01)


def test_the_root_is_the_most_that_the_interval_holds() -> None:
    found = extrapolate((10, 40, 160), links(LAWS["root"], (10, 40, 160)), 0.5)
    assert 0.8 * 3000 <= found.packets <= 3000 <= found.high <= 1.1 * 3000


@pytest.mark.parametrize("name", LAWS)
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    law, factors = LAWS[name], (8, 32, 128)
    found = [extrapolate(factors, links(law, factors, 0.03, seed), 0.5) for seed in range(200)]
    assert sum(each.low <= law(1) <= each.high for each in found) >= 0.93 * 200


def test_a_farther_link_is_known_less_well() -> None:
    near, far = (
        extrapolate((k, 4 * k), links(LAWS["both"], (k, 4 * k)), 0.5) for k in (2.0, 100.0)
    )
    assert far.high / far.low > near.high / near.low


def test_what_is_steeper_than_the_law_fades() -> None:
    found = extrapolate((100, 400), links(lambda x: 1e4 * x**0.7, (100, 400)), 0.5)
    assert found.packets < 1e4
    assert found.exponent == pytest.approx(0.7, abs=0.01)


def test_one_packet_may_stay_one_packet() -> None:
    one = Crossing(1.0, 1.0, 1.0, 0.0, 0, "below", ())
    found = extrapolate((10, 40), [one, one], 0.5)
    assert found.low == 1.0
    assert 1.0 <= found.packets <= found.high <= 10


def test_a_buffer_for_a_loss_of_long_flows_goes_with_the_link() -> None:
    found = extrapolate((2, 4, 8), links(lambda x: 900 * x, (2, 4, 8)), 1.0, proportional=True)
    assert found.packets == pytest.approx(900, rel=0.01)
    assert found.low <= 900 <= found.high
    one = Crossing(1.0, 1.0, 1.0, 0.0, 0, "below", ())
    assert extrapolate((10, 40), [one, one], 1.0, proportional=True).packets < 2.0


def test_one_link_is_no_trend() -> None:
    with pytest.raises(ValueError, match="two"):
        extrapolate((10,), [crossing(100)], 0.5)


@pytest.mark.parametrize(
    ("law", "widest"),
    [
        (lambda x: 20.0, 7.0),
        (lambda x: 3000 * x, 7.0),
        (lambda x: 4000 * x**1.4, 7.0),
        (lambda x: 4000 * x**1.1 * math.exp(-0.04 * math.log(x) ** 2), 7.0),
        (lambda x: 15 + 100 * x, 7.0),
    ],
)
def test_windows_that_shrink_are_carried_over_with_a_curve(law, widest) -> None:
    """Of the fourth law the exponent falls by 0.08 for each factor e of the rate."""
    factors = (4, 8, 16)
    found = [
        extrapolate(factors, links(law, factors, 0.03, seed), 1.5, gentlest=0.0)
        for seed in range(200)
    ]
    assert sum(each.low <= law(1) <= each.high for each in found) >= 0.93 * 200
    assert max(each.high / each.low for each in found) < widest
