"""Every law against numbers that paper A (Appenzeller, Keslassy, McKeown 2004) prints."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest import approx

from forebay.laws import (
    desynchronized,
    loss,
    response,
    rule_of_thumb,
    sawtooth,
    sqrt_n,
    synchronized,
    utilization,
)

OC3_BDP = 155e6 * 0.1 / 12_000  # packets of 1500 bytes at 100 ms
PIPE = 10e9 * 0.250  # bits of 10 Gbit/s at 250 ms
SIGMA = 1.64485  # standard deviations above the mean of a normal at 95 %
SPREAD = float(desynchronized.sigma(129.0, OC3_BDP, 100))
ROUNDED = 0.8  # packets

PRINTED: dict[str, tuple[Callable[..., Any], tuple[float, ...], Any]] = {
    "§1.1: 250 ms at 10 Gbit/s are 2.5 Gbit": (rule_of_thumb.buffer, (10e9, 0.250), approx(2.5e9)),
    "§5.2.1: 1291 packets": (
        lambda *link: math.floor(rule_of_thumb.buffer(*link)), (155e6 / 12_000, 0.1), 1291),
    "abstract: 10 Gbit/s with 50,000 flows needs only 10 Mbit": (
        sqrt_n.buffer, (PIPE, 50_000), approx(10e6, rel=0.12)),
    "or rather 11.18 Mbit": (sqrt_n.buffer, (PIPE, 50_000), approx(11.18e6, rel=1e-3)),
    "abstract: 10,000 flows save 99 %": (sqrt_n.buffer, (1.0, 10_000), approx(0.01)),
    **{f"figure 15, row 1 x, {n} flows": (sqrt_n.buffer, (OC3_BDP, n), approx(size, abs=ROUNDED))
       for n, size in ((100, 129), (200, 91), (300, 74), (400, 64))},
    "§3.2: a window's deviation is its mean over 3 sqrt(3)": (
        desynchronized.sigma, (0.0, 30.0, 1), approx(30.0 / (3 * math.sqrt(3)))),
    "eq. 6 is the normal of eq. 5 inside the buffer, P(|Q - B/2| < B/2)": (
        utilization.utilization, (129.0, OC3_BDP, 100),
        approx(math.erf(129.0 / 2 / SPREAD / math.sqrt(2)), rel=1e-12)),
    "§3.2: the queue's median is B/2": (
        desynchronized.queue_quantile, (0.5, 129.0, OC3_BDP, 100), approx(64.5)),
    "§3.2: and its 95th percentile 1.6449 deviations above": (
        desynchronized.queue_quantile, (0.95, 129.0, OC3_BDP, 100),
        approx(64.5 + SIGMA * SPREAD, rel=1e-5)),
    "§3.1, eq. 3: flows in step need the rule of thumb": (synchronized.buffer, (OC3_BDP,), OC3_BDP),
    "and so does the sawtooth": (sawtooth.buffer_for, (1.0, OC3_BDP), approx(OC3_BDP)),
    "appendix B: 1.5 * 142^2 / 1000 = 30.2 s": (
        sawtooth.fill_time, (142, 1000, 142), approx(30.2, abs=0.05)),
    "figure 4: a period of 30.246 s": (sawtooth.period, (142, 1000, 142), approx(30.246)),
    "§5.1.1: a mean window of 2 loses 0.19": (loss.loss_rate, (2.0,), approx(0.19)),
    # A path that holds windows large enough needs no buffer for the loss.
    "eq. 1 and §5.1.1 solved for B: n sqrt(0.76 / l) - RTT C": (
        loss.buffer_for, (0.01, 1000.0, 200), approx(200 * 76**0.5 - 1000.0)),
    "never below nothing": (loss.buffer_for, (0.01, 1000.0, 100), 0.0),
}  # fmt: skip


@pytest.mark.parametrize("said", PRINTED)
def test_a_law_gives_what_the_paper_says(said):
    law, arguments, expected = PRINTED[said]
    assert law(*arguments) == expected


def test_eq_6_table():
    """§3.2, table below eq. 6, n = 10,000; the middle value is what eq. 6 gives, not the print."""
    right, printed = utilization.table(), utilization.table(as_printed=True)
    assert 100.0 * right[1.0] == approx(98.98990, abs=5e-6)
    assert 100.0 * right[1.5] == approx(99.98767, abs=5e-6)
    assert 100.0 * right[2.0] == approx(99.9999650, abs=5e-8)
    share = 3 * math.sqrt(3) / (2 * math.sqrt(2)) * 100  # the factor times sqrt(n)
    assert right[1.0] == approx(math.erf(share * 0.01 / 1.01), rel=1e-13)
    assert printed == {1.0: 0.9899, 1.5: 0.9999988, 2.0: 0.9999997}
    assert right[1.0] == approx(printed[1.0], abs=5e-5)
    assert right[2.0] == approx(printed[2.0], abs=6e-8)
    assert abs(right[1.5] - printed[1.5]) > 1e-4


@pytest.mark.parametrize(
    ("n", "half", "whole"),
    [(100, 78.4, 98.2), (200, 79.0, 98.5), (300, 79.3, 98.6), (400, 79.5, 98.7)],
)
def test_figure_15_by_eq_6(n, half, whole):
    """Figure 15's buffers by eq. 6 itself; the printed column "Model" has other numbers."""
    size = sqrt_n.buffer(OC3_BDP, n)
    assert 100 * utilization.utilization(size / 2, OC3_BDP, n) == approx(half, abs=0.06)
    assert 100 * utilization.utilization(size, OC3_BDP, n) == approx(whole, abs=0.06)


def test_98_percent_needs_about_sqrt_n_at_oc3():
    """§5.1.1: for 98 % a buffer of RTT C / sqrt(n) should be sufficient."""
    flows = np.array([250, 300, 400, 500])
    needed = utilization.buffer_for(0.98, OC3_BDP, flows)
    np.testing.assert_array_less(needed, sqrt_n.buffer(OC3_BDP, flows))
    np.testing.assert_array_less(0.93 * sqrt_n.buffer(OC3_BDP, flows), needed)


def test_sawtooth_window_and_queue():
    """Appendix B, eq. 9 and 10: from BDP to BDP + B in one fill time; printed W(0), not W(0)^2."""
    period = sawtooth.fill_time(142, 1000, 142)
    assert sawtooth.window(0.0, 1000, 142) == approx(142)
    assert sawtooth.window(period, 1000, 142) == approx(284)
    assert sawtooth.queue(period, 1000, 142) == approx(142)
    # concave, not parabolic: half of the period fills more than half of the buffer
    assert sawtooth.queue(period / 2, 1000, 142) > 71
    assert sawtooth.window(0.0, 1000, 142, as_printed=True) == approx(math.sqrt(142))


def test_loss_quadruples_when_the_buffer_goes():
    """§5.1.1: from B = RTT C to a very small B the window halves and loss grows fourfold."""
    large, small = (loss.loss_rate(loss.window(b, OC3_BDP, 100)) for b in (OC3_BDP, 0.0))
    assert small / large == approx(4.0)


def test_a_window_of_constant_hazard_strays_by_its_mean_over_the_root_of_three():
    """Moments of W' = 1, W -> W/2 with rate h: E[W] = 2/h and E[W^2] = 16/(3 h^2)."""
    hazard = 0.05
    variance = 16.0 / (3.0 * hazard**2) - (2.0 / hazard) ** 2
    sigma = desynchronized.sigma_of_constant_hazard(2.0 / hazard, 1)
    assert float(sigma) == approx(math.sqrt(variance))
    bound = desynchronized.sigma(0.0, 2.0 / hazard, 1)
    assert float(sigma / bound) == approx(3.0)


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
    assert deviation == approx(expected, rel=0.02)


def test_a_rate_at_either_end_of_the_losses_has_that_loss():
    """The response function is inverted on a grid of losses, both of whose ends count."""
    one = response.Flows(9.0, "reno", 0.08, 0.3, 1.0, math.inf)
    ends = response._LOSSES[[0, -1]]
    rates = 9.0 * response.rate(response._LOSSES, one)[[0, -1]]
    assert [response.loss_rate([one], pps) for pps in rates] == approx(ends.tolist())
