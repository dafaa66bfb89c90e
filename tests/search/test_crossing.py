"""The crossing of a curve, and the coverage of its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forebay.search.strategies.crossing.crossing import WIDTH, find


class NoisyCurve:
    """Harm that falls as a power of the buffer; its noise is in part common to all buffers."""

    def __init__(self, truth: float, seed: int, *, fall: float = 2.5, seeds: int = 6) -> None:
        self.truth, self.fall, self.seeds = truth, fall, seeds
        self.chance = np.random.default_rng(seed)
        self.shared = self.chance.normal(0.0, 0.2, seeds)
        self.runs = 0

    def coarse(self, packets: int) -> float:
        return math.log(max(self.fine(packets)[0][:2].mean(), 1e-6))

    def fine(self, packets: int) -> np.ndarray:
        self.runs += 1
        own = self.chance.normal(0.0, 0.1, self.seeds)
        mean = (packets / self.truth) ** -self.fall
        spread = math.sqrt(0.2**2 + 0.1**2)
        return mean * np.exp(self.shared + own - spread**2 / 2)[None, :]


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    truths = np.random.default_rng(7).uniform(30, 3000, 200)
    found = [find(NoisyCurve(t, i), round(t * 3), 100_000) for i, t in enumerate(truths)]
    held = sum(each.low <= truth <= each.high for each, truth in zip(found, truths, strict=True))
    assert held >= 0.93 * 200
    off = [math.log(each.packets / truth) for each, truth in zip(found, truths, strict=True)]
    assert abs(np.mean(off)) < 0.015  # no bias


def test_the_slope_takes_a_degree_of_freedom() -> None:
    """Of 700 links with a flat curve 92.6 % of the intervals held the truth without it."""
    found = find(NoisyCurve(1000.0, 1, fall=0.9), 1500, 100_000)
    assert math.log(found.high / found.packets) == pytest.approx(2.776 * found.log_error, rel=1e-3)


class BentCurve(NoisyCurve):
    """Harm whose logarithm falls ever faster (or slower) with the logarithm of the buffer."""

    bend = 1.4

    def fine(self, packets: int) -> np.ndarray:
        away = math.log(packets / self.truth)
        return super().fine(packets) * math.exp(-self.bend * away**2)


@pytest.mark.parametrize("bend", [pytest.param(-1.2, marks=pytest.mark.long), 1.4])
def test_a_bent_curve_leaves_no_bias(bend: float) -> None:
    truths = np.random.default_rng(8).uniform(100, 3000, 400)
    held, off = 0, []
    for number, truth in enumerate(truths):
        curve = BentCurve(truth, number, seeds=24)
        curve.bend = bend
        found = find(curve, round(truth * 2), 100_000)
        held += found.low <= truth <= found.high
        off.append(math.log(found.packets / truth))
    assert held >= 0.93 * 400
    assert abs(np.mean(off)) < 0.005  # a line: 0.015


def test_the_next_buffer_lies_between_where_more_leaves_the_link_never_idle() -> None:
    class Sudden(NoisyCurve):
        def fine(self, packets: int) -> np.ndarray:
            return super().fine(packets) if packets < 130 else np.zeros((1, 6))

    found = find(Sudden(200.0, 1), 125, 1000)
    missed, between, met = (packets for packets, _ in found.evaluations)
    assert 130 / WIDTH < missed < between < 130 <= met
    assert between <= found.packets <= met


@pytest.mark.parametrize("start", [1, 40, 2000, 50_000])
def test_it_is_found_wherever_the_search_starts(start: int) -> None:
    curve = NoisyCurve(700.0, 3)
    found = find(curve, start, 100_000)
    assert found.low <= 700 <= found.high
    assert curve.runs <= 20


def test_a_link_that_one_packet_satisfies_says_so() -> None:
    found = find(NoisyCurve(0.2, 1), 100, 1000)
    assert (found.packets, found.reached) == (1, "below")


def test_a_link_that_nothing_satisfies_says_so() -> None:
    found = find(NoisyCurve(1e5, 1), 100, 1000)
    assert (found.packets, found.reached) == (1000, "above")


class TurningCurve:
    """Harm that falls with the buffer and rises again; ``least`` of it at ``at`` packets."""

    def __init__(self, at: float, least: float) -> None:
        self.at, self.least = at, least

    def coarse(self, packets: int) -> float:
        return math.log(self.fine(packets).mean())

    def fine(self, packets: int) -> np.ndarray:
        away = math.log(packets / self.at)
        return np.full((1, 6), self.least * math.exp(away**2 / 4))


@pytest.mark.parametrize("start", [1, 100, 3000, 100_000])
def test_harm_that_rises_again_is_met_where_it_is_least(start: int) -> None:
    found = find(TurningCurve(3000.0, 0.8), start, 100_000)
    truth = 3000 / math.exp(math.sqrt(4 * math.log(1 / 0.8)))
    assert found.reached == "inside"
    assert found.packets == pytest.approx(truth, rel=0.1)


def test_harm_that_is_never_small_enough_is_missed_at_the_largest() -> None:
    assert find(TurningCurve(3000.0, 1.1), 100, 100_000).reached == "above"


def test_a_few_packets_are_known_to_half_a_packet_at_best() -> None:
    found = find(NoisyCurve(4.0, 2, seeds=60), 10, 1000)
    assert found.high - found.low >= 1.0


class DifferingCurve:
    """A short run that says one thing, and a long one that says another: 1.5 times the target."""

    def __init__(self, coarse: float) -> None:
        self.said = coarse

    def coarse(self, packets: int) -> float:
        return self.said

    def fine(self, packets: int) -> np.ndarray:
        return np.full((1, 6), 1.5)


def test_the_long_run_decides_at_both_ends_and_misses_by_any_amount() -> None:
    """1.5 times the target is missed, though its logarithm is below 1."""
    assert find(DifferingCurve(1.0), 100, 1000).reached == "above"
    assert find(DifferingCurve(-1.0), 100, 1000).reached != "below"
