"""Windows, sawtooths and what holds flows back, by hand."""

import pytest
from tests.scenarios import scenario

from forebay.laws.quantities import (
    CLIMBS,
    EPOCHS,
    Held,
    average_window,
    growth_of,
    held_back,
    sawtooth_period,
    settling_time,
)
from forebay.laws.regime_words import cannot_fill
from forebay.scenario import Long, Scenario


def link(control: str, rtt_ms: float = 100.0) -> Scenario:
    return scenario({
        "link.rate": "120 Mbit/s", "queue.size": "100 packets", "traffic.0.flows": 4,
        "traffic.0.rtt": f"{rtt_ms} ms", "traffic.0.congestion_control": control,
    })  # fmt: skip


def test_reno_climbs_by_its_growth_in_a_round_trip():
    """100 packets wait 5 ms on average at 10,000 packets a second; a loss takes half."""
    reno = link("reno")
    (group,) = (each for each in reno.traffic if isinstance(each, Long))
    climb_s = average_window(reno) / growth_of(group) * 0.105
    assert sawtooth_period(reno) == pytest.approx(2 / 3 * climb_s)
    assert settling_time(reno) == pytest.approx(CLIMBS * climb_s)


def test_cubic_climbs_as_reno_does_where_round_trips_are_short():
    """RFC 9438, eq. 4: 3 (1 - b) / (1 + b) = 0.53 packets a round trip with b = 0.7."""
    short = link("cubic", 1.0)
    window = average_window(short)
    assert settling_time(short) == pytest.approx(CLIMBS * window / 0.53 * 0.006)


def test_cubic_climbs_by_its_epochs_where_round_trips_are_long():
    """RFC 9438, eq. 1: W = C t^3 with C = 0.4."""
    long = link("cubic", 400.0)
    window = average_window(long)
    epoch_s = (window / 0.4) ** (1 / 3)
    assert settling_time(long) == pytest.approx(CLIMBS * EPOCHS * epoch_s)
    assert sawtooth_period(long) == pytest.approx((0.3 / 0.925 * window / 0.4) ** (1 / 3))


@pytest.mark.parametrize(("window", "held"), [(9, Held.BY_WINDOWS), (10, Held.NOT), (11, Held.NOT)])
def test_windows_that_fill_the_path_hold_nothing_back(window, held):
    """12 Mbit/s and 100 ms are 100 packets of 1500 B: ten flows of ten."""
    full = scenario({
        "link.rate": "12 Mbit/s", "traffic.0.flows": 10, "traffic.0.rtt": "100 ms",
        "traffic.0.max_window": window,
    })  # fmt: skip
    assert held_back(full) is held


def test_slow_access_links_are_said_in_megabits():
    slow = scenario({"traffic.0.access_rate": "2 Mbit/s"})
    assert "at most 8 Mbit/s, which is no more than the link's rate" in str(cannot_fill(slow))
    assert cannot_fill(scenario({"traffic.0.access_rate": "4 Mbit/s"})) is None
