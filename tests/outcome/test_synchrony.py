"""Known answers for synchronization, congestion events and the normal fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.outcome.trace import (
    congestion_events,
    fit_normal,
    robust_minimum,
    synchronization_index,
)


def sawtooths(phases, samples=20_000):
    """Windows between w and 2w, each with its phase and a period of its own if not 1."""
    time = np.arange(samples) / 100.0
    return np.stack([1.0 + (time / period + phase) % 1.0 for phase, period in phases])


def index(windows):
    return synchronization_index(windows.sum(axis=0), windows.var(axis=1))


def test_lockstep_is_n_independent_windows_are_one_and_those_that_make_room_less():
    assert index(sawtooths([(0.3, 1.0)] * 7)) == pytest.approx(7.0)
    random = np.random.default_rng(1)
    # Periods that share no measure: their products average out over the window.
    windows = sawtooths([(random.random(), random.uniform(0.8, 1.6)) for _ in range(300)])
    assert index(windows) == pytest.approx(1.0, abs=0.1)
    assert index(sawtooths([(0.0, 1.0), (0.5, 1.0)])) == pytest.approx(0.5, abs=0.01)


@given(st.integers(2, 30), st.floats(0.05, 0.95))
def test_equal_variances_give_one_plus_n_less_one_correlations(n, correlation):
    random = np.random.default_rng(n)
    common, own = random.standard_normal(4000), random.standard_normal((n, 4000))
    windows = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    assert index(windows) == pytest.approx(1 + (n - 1) * correlation, rel=0.15)


def test_normal_fit_of_normal_quantiles():
    from scipy.special import ndtri

    sample = 1363.0 + 70.0 * ndtri((np.arange(10_000) + 0.5) / 10_000)
    fit = fit_normal(sample)
    assert (fit.mean, fit.standard_deviation) == pytest.approx((1363.0, 70.0), rel=1e-3)
    assert fit.kolmogorov_smirnov < 1e-3
    assert fit.skewness == pytest.approx(0.0, abs=1e-6)
    assert fit.excess_kurtosis == pytest.approx(0.0, abs=0.02)


def test_normal_fit_of_a_uniform_sample():
    """Excess kurtosis -6/5; the distance is at its largest where the densities cross."""
    fit = fit_normal(np.linspace(0.0, 1.0, 20_001))
    assert fit.excess_kurtosis == pytest.approx(-1.2, abs=1e-3)
    assert fit.kolmogorov_smirnov == pytest.approx(0.0572, abs=2e-4)


def test_normal_fit_of_a_coin():
    """Half the sample at -1, half at +1: the distance is 1/2 - Phi(-1)."""
    fit = fit_normal(np.array([-1.0, 1.0] * 50))
    assert fit.kolmogorov_smirnov == pytest.approx(0.5 - 0.158655, abs=1e-6)
    assert fit_normal(np.full(5, 3.0)) is None


def test_robust_minimum_is_the_five_per_cent_quantile():
    assert robust_minimum(np.arange(1, 101)) == 5.0
    assert robust_minimum(np.array([0] * 4 + [90] * 96)) == 90.0
    assert robust_minimum(np.array([], dtype=np.int64)) is None


def events(drops, cuts, flows=4, window=(0.0, 100.0)):
    def columns(pairs):
        return (
            np.array([at for at, _ in pairs], dtype=np.float64),
            np.array([flow for _, flow in pairs], dtype=np.int64),
        )

    return congestion_events(
        columns(drops), columns(cuts), flows=flows, length_s=1.0, window_s=window
    )


def test_a_round_of_loss_is_one_event():
    found = events(
        [(10.0, 0), (10.2, 1), (10.2, 0), (10.9, 2), (20.0, 3)],
        [(10.4, 0), (11.3, 1), (11.9, 2), (21.0, 3)],
    )
    assert found.opened_s.tolist() == [10.0, 20.0]
    assert found.hit_fraction.tolist() == [0.75, 0.25]
    assert found.reduced_fraction.tolist() == [0.75, 0.25]


def test_drops_without_a_pause_are_many_events():
    found = events([(5.0 + k * 0.1, k % 4) for k in range(100)], [])
    assert found.opened_s == pytest.approx([5.0 + k for k in range(10)])
    assert found.hit_fraction.tolist() == [1.0] * 10
    assert found.reduced_fraction.tolist() == [0.0] * 10


def test_a_cut_belongs_to_its_flows_latest_drop():
    # Flow 0 loses in both events but still repairs the first when it cuts; flow 1 never lost.
    found = events([(10.0, 0), (11.0, 2), (11.5, 0)], [(11.2, 0), (11.8, 1), (12.5, 2), (12.6, 0)])
    assert found.opened_s.tolist() == [10.0, 11.0]
    assert found.reduced_fraction.tolist() == [0.25, 0.5]


def test_events_at_the_window_s_ends_are_left_out():
    found = events([(0.5, 0), (50.0, 1), (98.5, 2)], [])
    assert found.opened_s.tolist() == [50.0]
    none = events([], [(3.0, 1)])
    assert none.opened_s.size == none.reduced_fraction.size == 0
