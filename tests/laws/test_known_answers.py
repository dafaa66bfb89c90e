"""Every law against numbers that paper A (Appenzeller, Keslassy, McKeown 2004) prints."""

import math

import numpy as np
import pytest

from forebay.laws import (
    desynchronized,
    loss,
    rule_of_thumb,
    sawtooth,
    sqrt_n,
    synchronized,
    utilization,
)

OC3_BDP = 155e6 * 0.1 / 12_000  # packets of 1500 bytes at 100 ms


def test_rule_of_thumb_introduction():
    """§1.1: 250 ms at 10 Gbit/s are 2.5 Gbit."""
    assert rule_of_thumb.buffer(10e9, 0.250) == pytest.approx(2.5e9)


def test_rule_of_thumb_at_the_oc3_line_card():
    """§5.2.1: 1291 packets."""
    assert math.floor(rule_of_thumb.buffer(155e6 / 12_000, 0.1)) == 1291


def test_sqrt_n_headline():
    """Abstract: 10 Gbit/s (at 250 ms) with 50,000 flows needs only 10 Mbit."""
    assert sqrt_n.buffer(10e9 * 0.250, 50_000) == pytest.approx(10e6, rel=0.12)
    assert sqrt_n.buffer(10e9 * 0.250, 50_000) == pytest.approx(11.18e6, rel=1e-3)


def test_sqrt_n_saves_99_percent():
    """Abstract: a link with 10,000 flows can reduce its buffer by 99 %."""
    assert sqrt_n.buffer(1.0, 10_000) == pytest.approx(0.01)


@pytest.mark.parametrize(("n", "packets"), [(100, 129), (200, 91), (300, 74), (400, 64)])
def test_sqrt_n_column_of_figure_15(n, packets):
    """Figure 15, rows "1 x": packets, within the rounding of the print."""
    assert sqrt_n.buffer(OC3_BDP, n) == pytest.approx(packets, abs=0.8)


def test_eq_6_table():
    """§3.2, table below eq. 6, n = 10,000; the middle value is what eq. 6 gives, not the print."""
    percent = {k: 100.0 * v for k, v in utilization.table().items()}
    assert percent[1.0] == pytest.approx(98.98990, abs=5e-6)
    assert percent[1.5] == pytest.approx(99.98767, abs=5e-6)
    assert percent[2.0] == pytest.approx(99.9999650, abs=5e-8)


def test_eq_6_table_as_printed():
    printed = utilization.table(as_printed=True)
    assert printed == {1.0: 0.9899, 1.5: 0.9999988, 2.0: 0.9999997}
    right = utilization.table()
    assert right[1.0] == pytest.approx(printed[1.0], abs=5e-5)
    assert right[2.0] == pytest.approx(printed[2.0], abs=6e-8)
    assert abs(right[1.5] - printed[1.5]) > 1e-4


@pytest.mark.parametrize(
    ("n", "half", "whole"),
    [(100, 78.4, 98.2), (200, 79.0, 98.5), (300, 79.3, 98.6), (400, 79.5, 98.7)],
)
def test_figure_15_by_eq_6(n, half, whole):
    """Figure 15's buffers by eq. 6 itself; the printed column "Model" has other numbers."""
    size = sqrt_n.buffer(OC3_BDP, n)
    assert 100 * utilization.utilization(size / 2, OC3_BDP, n) == pytest.approx(half, abs=0.06)
    assert 100 * utilization.utilization(size, OC3_BDP, n) == pytest.approx(whole, abs=0.06)


def test_98_percent_needs_about_sqrt_n_at_oc3():
    """§5.1.1: for 98 % a buffer of RTT C / sqrt(n) should be sufficient."""
    flows = np.array([250, 300, 400, 500])
    needed = utilization.buffer_for(0.98, OC3_BDP, flows)
    np.testing.assert_array_less(needed, sqrt_n.buffer(OC3_BDP, flows))
    np.testing.assert_array_less(0.93 * sqrt_n.buffer(OC3_BDP, flows), needed)


def test_window_spread():
    """§3.2: one window's standard deviation is its mean over 3 sqrt(3)."""
    assert desynchronized.sigma(0.0, 30.0, 1) == pytest.approx(30.0 / (3 * math.sqrt(3)))


def test_eq_6_is_the_normal_of_eq_5_inside_the_buffer():
    """Eq. 6 from its own ingredients: P(|Q - B/2| < B/2)."""
    size, n = 129.0, 100
    inside = math.erf(size / 2 / float(desynchronized.sigma(size, OC3_BDP, n)) / math.sqrt(2))
    assert utilization.utilization(size, OC3_BDP, n) == pytest.approx(inside, rel=1e-12)


def test_queue_of_eq_5_is_centred_in_the_buffer():
    """§3.2: median B/2, and 1.6449 standard deviations above it the 95th percentile."""
    sigma = float(desynchronized.sigma(129.0, OC3_BDP, 100))
    assert desynchronized.queue_quantile(0.5, 129.0, OC3_BDP, 100) == pytest.approx(64.5)
    high = desynchronized.queue_quantile(0.95, 129.0, OC3_BDP, 100)
    assert high == pytest.approx(64.5 + 1.64485 * sigma, rel=1e-5)


def test_synchronized_flows_need_the_rule_of_thumb():
    """§3.1, eq. 3."""
    assert synchronized.buffer(OC3_BDP) == OC3_BDP
    assert sawtooth.buffer_for(1.0, OC3_BDP) == pytest.approx(OC3_BDP)


def test_sawtooth_period_of_figure_4():
    """Appendix B: 1.5 * 142^2 / 1000 = 30.2 s."""
    assert sawtooth.fill_time(142, 1000, 142) == pytest.approx(30.2, abs=0.05)
    assert sawtooth.period(142, 1000, 142) == pytest.approx(30.246)


def test_sawtooth_window_and_queue():
    """Appendix B, eq. 9 and 10: from BDP to BDP + B in one fill time."""
    period = sawtooth.fill_time(142, 1000, 142)
    assert sawtooth.window(0.0, 1000, 142) == pytest.approx(142)
    assert sawtooth.window(period, 1000, 142) == pytest.approx(284)
    assert sawtooth.queue(period, 1000, 142) == pytest.approx(142)
    # concave, not parabolic: half of the period fills more than half of the buffer
    assert sawtooth.queue(period / 2, 1000, 142) > 71


def test_sawtooth_window_as_printed_starts_at_the_root():
    """Appendix B, line above eq. 9: W(0) stands where W(0)^2 is meant."""
    assert sawtooth.window(0.0, 1000, 142, as_printed=True) == pytest.approx(math.sqrt(142))


def test_loss_quadruples_when_the_buffer_goes():
    """§5.1.1: from B = RTT C to a very small B the window halves and loss grows fourfold."""
    large = loss.loss_rate(loss.window(OC3_BDP, OC3_BDP, 100))
    small = loss.loss_rate(loss.window(0.0, OC3_BDP, 100))
    assert small / large == pytest.approx(4.0)
    assert loss.loss_rate(2.0) == pytest.approx(0.19)


def test_a_path_that_holds_windows_large_enough_needs_no_buffer_for_the_loss():
    """Eq. 1 and §5.1.1 solved for B: n sqrt(0.76 / l) - RTT C, never below nothing."""
    assert loss.buffer_for(0.01, 1000.0, 200) == pytest.approx(200 * 76**0.5 - 1000.0)
    assert loss.buffer_for(0.01, 1000.0, 100) == 0.0


def test_a_window_of_constant_hazard_strays_by_its_mean_over_the_root_of_three():
    """Moments of W' = 1, W -> W/2 with rate h: E[W] = 2/h and E[W^2] = 16/(3 h^2)."""
    hazard = 0.05
    variance = 16.0 / (3.0 * hazard**2) - (2.0 / hazard) ** 2
    sigma = desynchronized.sigma_of_constant_hazard(2.0 / hazard, 1)
    assert float(sigma) == pytest.approx(math.sqrt(variance))
    bound = desynchronized.sigma(0.0, 2.0 / hazard, 1)
    assert float(sigma / bound) == pytest.approx(3.0)


def test_windows_of_constant_hazard_drawn_one_by_one():
    """20,000 gaps between losses of one window: its time average, not its average at losses."""
    gaps = np.random.default_rng(8).exponential(20.0, 200_000)
    at_loss, area, square = 40.0, 0.0, 0.0
    for gap in gaps:
        low, high = at_loss / 2.0, at_loss / 2.0 + gap
        area += (high**2 - low**2) / 2.0
        square += (high**3 - low**3) / 3.0
        at_loss = high
    mean = area / gaps.sum()
    deviation = math.sqrt(square / gaps.sum() - mean**2)
    expected = float(desynchronized.sigma_of_constant_hazard(mean, 1))
    assert deviation == pytest.approx(expected, rel=0.02)
