"""Paper D (Yang, Zhang, Xu 2013): its printed numbers, the right ones, and what theory demands."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.laws import heterogeneous as h
from forebay.laws.heterogeneous import uneven

MIX = {"reno": 42, "bic": 51, "cubic_beta_0_8": 30, "cubic_beta_0_7": 41, "ctcp": 34}  # §VIII

values = st.floats(0.01, 0.3)
flows = st.integers(30, 100_000)
levels = st.floats(0.51, 0.9999)
rates = st.floats(1e-4, 0.2)
windows = st.floats(2.0, 1e5)
rtts = st.floats(1e-3, 1.0)


@pytest.mark.parametrize(
    ("name", "mean", "deviation"),
    [
        ("reno", 0.75, 1 / (3 * math.sqrt(3))),
        ("bic", 0.85, 0.1 / math.sqrt(12) / 0.85),  # 0.0340; printed 0.0241
        ("cubic_beta_0_8", 0.95, 0.2 * math.sqrt(9 / 112) / 0.95),  # printed 0.06
        ("cubic_beta_0_7", 0.925, 0.3 * math.sqrt(9 / 112) / 0.925),  # printed 0.09
        ("ctcp", 0.728521, 0.197976),  # printed 0.73 and 0.19
    ],
)
def test_table_3_by_hand(name, mean, deviation):
    """Table III, worked out by hand from Table II (yang_2013/table3/README.md)."""
    growth = h.PROTOCOLS[name]
    assert growth.mean() == pytest.approx(mean, abs=1e-6)
    assert growth.characteristic_value() == pytest.approx(deviation, abs=1e-6)


def test_table_3_as_printed():
    printed = [float(h.characteristic_value(name, as_printed=True)) for name in h.PAPER_D]
    assert printed == [pytest.approx(0.19245, abs=5e-6), 0.0241, 0.06, 0.09, 0.19]


@pytest.mark.parametrize("name", h.PROTOCOLS)
@given(windows, rtts)
def test_integrals_agree_with_the_trapezoidal_rule(name, w_max, rtt):
    growth = h.PROTOCOLS[name]
    end = float(growth.epoch(w_max, rtt))
    times = np.linspace(0.0, end, 4_001)
    window = growth.window(times, w_max, rtt)
    mean = np.trapezoid(window, times) / end
    square = np.trapezoid((window - mean) ** 2, times) / end
    assert growth.mean(w_max, rtt) == pytest.approx(mean, rel=1e-5)
    assert growth.deviation(w_max, rtt) == pytest.approx(math.sqrt(square), rel=1e-4)


@pytest.mark.parametrize("name", h.PROTOCOLS)
@given(windows, rtts)
def test_a_window_climbs_from_beta_to_its_maximum(name, w_max, rtt):
    growth = h.PROTOCOLS[name]
    times = np.linspace(0.0, float(growth.epoch(w_max, rtt)), 101)
    window = growth.window(times, w_max, rtt)
    top = 0.9 if name == "bic" else 1.0  # Table II follows BIC's first round trip only
    assert window[0] == pytest.approx(growth.beta * w_max, rel=1e-9)
    assert window[-1] == pytest.approx(top * w_max, rel=1e-9)
    assert np.all(np.diff(window) >= -1e-9 * w_max)


def test_table_2_epochs():
    """Table II, column 4; CUBIC's with 1 - beta, with which its window starts at beta w_max."""
    epochs = {name: float(h.PROTOCOLS[name].epoch(400.0, 0.1)) for name in h.PAPER_D}
    assert epochs["reno"] == pytest.approx(0.5 * 400 * 0.1)
    assert epochs["bic"] == pytest.approx(0.1)
    assert epochs["cubic_beta_0_8"] == pytest.approx((400 * 0.2 / 0.4) ** (1 / 3))
    assert epochs["cubic_beta_0_7"] == pytest.approx((400 * 0.3 / 0.4) ** (1 / 3))
    assert epochs["ctcp"] == pytest.approx(5.1 * 400**0.25 * 0.1, rel=0.002)


@given(windows, rtts)
def test_rfc_9438_lies_between_the_cubic_and_the_straight_line(w_max, rtt):
    value = float(h.characteristic_value("cubic", w_max, rtt))
    cubic = float(h.characteristic_value("cubic_beta_0_7"))
    assert cubic * (1 - 1e-12) <= value <= float(h.sawtooth_value(0.7)) * (1 + 1e-12)


def test_limits_of_growths_that_hang_on_the_path():
    """RFC 9438, §4.3: short fat paths run as Reno's line, long ones as the cubic.

    Compound: below 16 packets Reno's packet a round trip is more than w^(3/4) / 8; from 32 never.
    """
    assert h.characteristic_value("cubic", 5.0, 0.01) == pytest.approx(h.sawtooth_value(0.7))
    long = h.characteristic_value("cubic", 1e5, 0.5)
    assert long == pytest.approx(h.characteristic_value("cubic_beta_0_7"))
    below, above = (h.characteristic_value("compound", w_max, 0.1) for w_max in (16.0, 32.0))
    assert below == pytest.approx(1 / (3 * math.sqrt(3)))
    assert above == pytest.approx(h.characteristic_value("ctcp"))


def test_sawtooth_value():
    """0.1925 at one half, 0.1019 at 0.7."""
    assert h.sawtooth_value([0.5, 0.7]) == pytest.approx([0.19245, 0.10189], abs=5e-6)


def test_protocols_without_a_law():
    with pytest.raises(ValueError, match="paced from a bandwidth estimate"):
        h.characteristic_value("bbr")
    with pytest.raises(ValueError, match="give w_max and rtt"):
        h.characteristic_value("cubic")
    with pytest.raises(ValueError, match="write one of: reno, bic"):
        h.characteristic_value("scalable", as_printed=True)


def test_flows_for_drops_below_1_percent():
    """§V, below inequality 12: 1526 flows of RENO, 24 of BIC; right 1965 and 62."""

    def needed(name: str, as_printed: bool) -> int:
        a = h.characteristic_value(name, as_printed=as_printed)
        return math.ceil(h.flows_for_drops(a, 0.01, 0.99, as_printed=as_printed))

    assert (needed("reno", True), needed("bic", True)) == (1526, 24)
    assert (needed("reno", False), needed("bic", False)) == (1965, 62)
    assert math.ceil(h.flows_for_drops(0.0241, 0.01, 0.99)) == 31  # the print's deviation, right z


def test_increase_for_drops():
    """§VII.A: at phi = 0.0035 and n = 200 RENO needs 87 % more, BIC nothing."""
    reno, bic = (h.characteristic_value(name, as_printed=True) for name in ("reno", "bic"))
    more = h.increase_for_drops([reno, bic], 200, 0.99, 0.0035, 0.99, as_printed=True)
    assert 100 * more[0] == pytest.approx(87, abs=0.5)
    assert more[1] == 0.0
    # §VIII: 45.45 % under all three BDPs, phi = 0.01; 52.84 % with the right figures
    printed = h.mixed(MIX, as_printed=True)
    more = h.increase_for_drops(printed, 198, 0.99, 0.01, 0.99, as_printed=True)
    assert 100 * more == pytest.approx(45.45, abs=0.005)
    right = h.increase_for_drops(h.mixed(MIX), 198, 0.99, 0.01, 0.99)
    assert 100 * right == pytest.approx(52.84, abs=0.005)


def test_z_score():
    """§III: the print's z belongs to 2 tau - 1; 2.05 at 0.99. One-sided it is 2.326."""
    assert h.z_score(0.99, as_printed=True) == 2.05
    assert h.z_score(0.99) == pytest.approx(2.32635, abs=5e-6)
    # §VII.B.1: at zero delay z is 0, tau falls by 0.24 (q = 0.75); rightly by 0.49
    assert h.reduction_at_zero_delay(0.99, as_printed=True) == pytest.approx(0.24)
    assert h.reduction_at_zero_delay(0.99) == pytest.approx(0.49)


@given(values, flows, levels)
def test_theorem_2_makes_theorem_1_an_equality(a, n, tau):
    size = h.for_utilization(1000.0, a, n, tau)
    mean = 1000.0 + size
    deviation = h.aggregate_deviation(mean, a, n)
    assert h.mean_needed(deviation, 1000.0, tau) == pytest.approx(mean, rel=1e-9)
    assert h.probability_of_full_link(size, 1000.0, a, n) == pytest.approx(tau, rel=1e-6)


@given(values, flows, levels, rates)
def test_buffers_fall_with_n_and_rise_with_a_and_scale(a, n, tau, phi):
    def size(bdp: float, a: float, n: float) -> float:
        return float(h.for_utilization_and_drops(bdp, a, n, tau, phi, 0.99))

    assert size(1.0, a, n + 1) <= size(1.0, a, n) * (1 + 1e-9)
    assert size(1.0, 1.01 * a, n) >= size(1.0, a, n) * (1 - 1e-9)
    assert size(7.0, a, n) == pytest.approx(7.0 * size(1.0, a, n))


@given(values, flows, levels, rates)
def test_inequality_12_says_when_14_is_7(a, n, level, phi):
    alone = h.for_utilization(1.0, a, n, level)
    both = h.for_utilization_and_drops(1.0, a, n, level, phi, level)
    if h.drops_hold_for_any_buffer(a, n, phi, level):
        assert both == pytest.approx(alone, rel=1e-9)
    else:
        assert both > alone
    edge = float(h.drop_rate_of_any_buffer(a, n, level))
    assert h.flows_for_drops(a, edge, level) == pytest.approx(n, rel=1e-6)


def test_theorem_3_by_the_normal_distribution():
    """P(W <= BDP + B + phi W) is rho at the smallest buffer (eq. 10), W normal."""
    mean, a, n, phi, rho = 1200.0, 0.15, 100.0, 0.01, 0.95
    size = h.for_drops(1000.0, a, n, mean, phi, rho)
    deviation = h.aggregate_deviation(mean, a, n)
    z = ((1000.0 + size) / (1.0 - phi) - mean) / deviation
    assert h.probability(z) == pytest.approx(rho)


@given(values, flows, levels)
def test_compromise_at_both_ends(a, n, tau):
    """Below inequality 18: gamma = 1 keeps z_tau, no buffer leaves z = 0."""
    needed = h.for_utilization(1.0, a, n, tau)
    bare = h.share_kept(0.0, needed, 1.0)
    assert h.z_kept(1.0, a, n, tau) == pytest.approx(h.z_score(tau))
    assert h.z_kept(bare, a, n, tau) == pytest.approx(0.0, abs=1e-6 * math.sqrt(n) / a)
    half = h.share_kept(needed / 2.0, needed, 1.0)
    q = h.probability_kept(half, a, n, tau)
    assert q == pytest.approx(h.probability_of_full_link(needed / 2.0, 1.0, a, n), rel=1e-6)


def test_drop_rate_added():
    """Inequality 19: D / (BDP + B_p)."""
    assert h.drop_rate_added([40.0, 100.0, 120.0], 100.0, 900.0) == pytest.approx([0.06, 0, 0])
    assert np.isinf(h.for_utilization(1.0, 0.5, 1.0, 0.99)), "so few flows have no buffer"


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=30))
def test_effective_flows(each):
    n = float(h.effective_flows(each))
    assert 1.0 - 1e-9 <= n <= len(each) * (1 + 1e-9)
    assert h.effective_flows(np.full(7, each[0])) == pytest.approx(7.0)
    assert h.effective_flows(3.0 * np.array(each)) == pytest.approx(n)
    assert h.uneven(0.2, each) == pytest.approx(0.2)


def test_uneven_flows_by_sampling():
    """Independent Reno sawtooths of unequal windows: deviation over mean is a / sqrt(n_eff)."""
    peaks = np.array([1.0, 2.0, 10.0, 10.0, 30.0])
    random = np.random.default_rng(5)
    total = (peaks * (0.5 + 0.5 * random.random((200_000, 5)))).sum(axis=1)
    law = h.characteristic_value("reno") / np.sqrt(h.effective_flows(peaks))
    assert total.std() / total.mean() == pytest.approx(law, rel=0.01)


def test_samples_have_the_mean_and_deviation_of_eq_2_and_6():
    for name in h.PROTOCOLS:
        drawn = h.sample_sum(name, 20, 50_000, w_max=50.0, rtt=0.1)
        growth = h.PROTOCOLS[name]
        mean = 20 * growth.mean(50.0, 0.1)
        spread = growth.characteristic_value(50.0, 0.1) / math.sqrt(20)
        assert drawn.mean() == pytest.approx(mean, rel=0.002)
        assert drawn.std() / drawn.mean() == pytest.approx(spread, rel=0.02)


def test_everything_broadcasts():
    a, n = np.linspace(0.02, 0.2, 4)[:, np.newaxis], np.array([200.0, 1000.0, 5000.0])
    assert h.for_utilization_and_drops(1000.0, a, n, 0.99, 0.01, 0.99).shape == (4, 3)
    assert h.mixed({"reno": [1, 0], "bic": [0, 1]}).shape == (2,)
    assert h.characteristic_value("cubic", n, a).shape == (4, 3)
    assert h.PROTOCOLS["reno"].mean(n, a).shape == (4, 3)
    assert h.z_kept(0.99, a, n, 0.99).shape == (4, 3)


def test_unequal_flows_are_reduced_along_the_last_axis():
    values, windows = np.array([[0.1, 0.3], [0.2, 0.2]]), np.array([[1.0, 3.0], [2.0, 2.0]])
    each = [float(uneven(v, w)) for v, w in zip(values, windows, strict=True)]
    assert uneven(values, windows) == pytest.approx(each)
    assert each[1] == pytest.approx(0.2)
