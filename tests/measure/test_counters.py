"""n from counters: the range holds the truth of the laws that it inverts."""

from typing import Any

import numpy as np
import pytest

from forebay import measure
from forebay.laws.sawtooth import loss_rate
from forebay.measure.counters import mean_windows
from forebay.outcome.statistics import ratio_half_width
from forebay.report.measurement import headline
from forebay.scenario import loads

RATE = "100 Mbit/s"
BDP = 100e6 * 0.1 / 12000
FULL = 100e6 / 8
AT = np.arange(200)


def table(tmp_path, *columns, names="time_s,octets,drops"):
    path = tmp_path / "counters.csv"
    rows = (",".join(f"{each:.15g}" for each in row) for row in zip(*columns, strict=True))
    path.write_text("\n".join([names, *rows]))
    return path


def counted(tmp_path, *columns, names="time_s,octets,drops", rate=RATE, rtt="100 ms", **options):
    return measure.counters(table(tmp_path, *columns, names=names), rate=rate, rtt=rtt, **options)


def filled(drops, *, load=1.0, cumulative=True):
    """Return columns of a link that drops so many packets a second."""
    dropped = np.random.default_rng(2).poisson(drops, len(AT)).astype(float)
    rows = [np.full(len(AT), load * FULL), dropped]
    return AT, *([np.cumsum(each) % 2**32 for each in rows] if cumulative else rows)


def drops_of(flows):
    """Reno without a queue, a growth of one: paper A's appendix B, `laws.sawtooth`."""
    p = float(loss_rate(0.0, BDP / 0.75, flows))
    return p * 100e6 / 12000 / (1 - p)


@pytest.mark.parametrize("flows", [20, 100])
@pytest.mark.parametrize("cumulative", [True, False])
def test_the_range_holds_n(tmp_path, flows, cumulative):
    columns = filled(drops_of(flows), cumulative=cumulative)
    n = counted(tmp_path, *columns).estimates["long_flows"]
    assert n.low <= flows <= n.high
    told = counted(tmp_path, *columns, congestion_control="reno").estimates["long_flows"]
    assert n.low <= told.low <= flows <= told.high <= n.high
    assert told.low == pytest.approx(flows, rel=0.05), "a growth of one is the low end"


def test_mean_window_of_reno():
    """p = 3/2 w^-2 for a growth of one, 3/4 w^-2 for a half (`laws.sawtooth`)."""
    one, half = mean_windows("reno", 0.01, 0.1)
    assert (one, half) == pytest.approx(((1.5 / 0.01) ** 0.5, (0.75 / 0.01) ** 0.5))


def test_mean_window_of_cubic_at_a_long_round_trip():
    """RFC 9438, section 5.1: 1.054 RTT^(3/4) / p^(3/4), where Reno's estimate is behind."""
    (window,) = mean_windows("cubic", 1e-5, 0.5)
    assert window == pytest.approx(1.054 * 0.5**0.75 / 1e-5**0.75, rel=0.01)


def test_a_loss_rate_next_to_none_is_the_largest_window_there_is():
    """Not "f(a) and f(b) must have different signs"."""
    for control in ("reno", "cubic"):
        assert all(window <= 1e9 for window in mean_windows(control, 1e-30, 0.1))


def test_the_scenario_is_one_that_a_sizing_takes(tmp_path):
    measured = counted(tmp_path, *filled(drops_of(50)), rtt="80 ms..120 ms")
    scenario = loads(measured.scenario_toml())
    assert scenario.flows_uncertain
    flows: Any = scenario.traffic[0].flows
    assert flows.low <= 50 <= flows.high


@pytest.mark.parametrize(
    ("drops", "load", "why"), [(30, 0.5, "limited elsewhere"), (0, 1.0, "0 drops")]
)
def test_what_counters_do_not_tell_is_refused(tmp_path, drops, load, why):
    told = counted(tmp_path, *filled(drops, load=load))
    assert why in dict((one.name, one.why) for one in told.refused)["long_flows"]
    with pytest.raises(measure.MeasureError, match="no scenario: without n there is none"):
        told.scenario()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_s,octets\n0,1\n", "has no column drops"),
        ("time_s,octets,drops\n0,0,0\n0,1,1\n", "times must rise"),
        ("time_s,octets,drops\n0,x,0\n", 'line 2: octets is "x"'),
        (f"time_s,octets,drops\n0,0,0\n1,{'1' * 200_000},0\n", "line 3: field larger than"),
        ("x" * 200_000, "line 1: field larger than"),
        ("time_s,octets,drops\n0,0,0\n1,1e12,0\n2,9e12,0", "octets exceed rate"),
    ],
)
def test_a_table_that_is_none_is_told_in_one_line(tmp_path, text, said):
    path = tmp_path / "counters.csv"
    path.write_text(text)
    with pytest.raises(measure.MeasureError, match=said) as told:
        measure.counters(path, rate=RATE, rtt="100 ms")
    assert "\n" not in str(told.value)


def test_a_queue_that_no_poll_can_have_seen_is_refused(tmp_path):
    names = "time_s,octets,drops,queue_packets"
    with pytest.raises(measure.MeasureError, match="how many packets were in the queue"):
        counted(tmp_path, AT, FULL * AT, 30 * AT, np.full(len(AT), 1e300), names=names)


@pytest.mark.parametrize(
    "wrong", [{"packet": "0 B"}, {"packet": "70 kB"}, {"buffer": "1e30 packets"}]
)
def test_sizes_that_no_link_has_are_refused(tmp_path, wrong):
    with pytest.raises(measure.MeasureError, match="write"):
        counted(tmp_path, AT, 12_400_000 * AT, 30 * AT, rtt="50 ms..150 ms", **wrong)


def test_the_interval_of_the_loss_is_student_s_of_a_ratio(tmp_path):
    """Against the ratio estimator that the engines use: 20 batches, 19 degrees of freedom."""
    drops = np.random.default_rng(2).poisson(30.0, 200).astype(float)
    sums = [np.concatenate([[0], np.cumsum(x)]) for x in (np.full(200, FULL), drops)]
    names = "time_s,octets,drops,packets"
    told = counted(tmp_path, np.arange(201), *sums, sums[0] / 1500, names=names)
    told = told.estimates["loss_rate"]
    arrivals = drops + FULL / 1500
    half = ratio_half_width(*(each.reshape(20, -1).sum(axis=1) for each in (drops, arrivals)))
    assert told.value == pytest.approx(drops.sum() / arrivals.sum())
    assert (told.low, told.high) == pytest.approx((told.value - half, told.value + half))


def test_a_queue_lengthens_the_longer_round_trip_alone(tmp_path):
    """A buffer may be empty or full: the low end of n stays, the high end waits the whole of it."""
    columns = filled(drops_of(40))
    without, full = (
        counted(tmp_path, *columns, congestion_control="reno", buffer=buffer).estimates[
            "long_flows"
        ]
        for buffer in (None, f"{round(0.05 * 100e6 / 12000)} packets")
    )
    assert full.low == pytest.approx(without.low)
    assert full.high == pytest.approx(1.5 * without.high, rel=0.01)


@pytest.mark.parametrize(
    ("octets", "drops", "left_out"),
    [
        # all are cleared at the fourth sample
        ([1_000_000_000, 1_300_000_000, 1_600_000_000, 150_000_000, 450_000_000],
         [50_000, 50_100, 50_200, 40, 140], 1),
        # beyond 32 bits
        ([900_000_000_000, 900_300_000_000, 900_600_000_000, 150_000_000, 450_000_000],
         [50_000, 50_100, 50_200, 40, 140], 1),
        # drops alone
        ([0, 300_000_000, 600_000_000, 900_000_000], [500, 600, 700, 2], 1),
        # both wrap
        ([4_000_000_000, 5_032_704, 305_032_704], [4_294_967_200, 4, 104], 0),
    ],
)  # fmt: skip
def test_counters_that_are_cleared_have_not_wrapped(tmp_path, octets, drops, left_out):
    at = 30 * np.arange(len(octets))
    told = counted(tmp_path, at, octets, drops, rate="1 Gbit/s", rtt="50 ms")
    assert told.estimates["load"].value == pytest.approx(0.08, rel=0.01)
    assert told.estimates["loss_rate"].value == pytest.approx(5e-4, rel=0.2)
    assert any("they were cleared" in each for each in told.notes) == bool(left_out)
    assert told.estimates["load"].n == len(octets) - 1 - left_out


def wrapped(tmp_path, seconds):
    """Counters of 32 bits of a link of 1 Gbit/s that is 95 % full, at these times."""
    at = np.array(seconds)
    octets = np.round(0.95e9 / 8 * at) % 2**32
    return counted(tmp_path, at, octets, 40 * at, rate="1 Gbit/s", rtt="50 ms")


def test_counters_of_32_bits_that_wrap_between_rows_have_no_load(tmp_path):
    told = wrapped(tmp_path, range(0, 1800, 30)).estimates["load"]
    assert told.value == pytest.approx(0.95, rel=1e-3), "at most once in 30 s"
    with pytest.raises(measure.MeasureError, match=r"wraps 32 bits in 34.4 s, sooner than the 60"):
        wrapped(tmp_path, range(0, 1800, 60))
    missed = wrapped(tmp_path, [*range(0, 900, 30), *range(990, 1800, 30)])
    assert missed.estimates["load"].value == pytest.approx(0.95, rel=1e-3)
    assert any("1 of 56 intervals are left out" in each for each in missed.notes)


@pytest.mark.parametrize(
    ("more", "said"),
    [(1, "1,600,024 packets in 80.000 s"), (0, "About 1,010,000 packets, of 1500 B, in 80.000 s")],
)
def test_the_headline_counts_or_says_by_what_size_it_estimates(tmp_path, more, said):
    k = np.arange(9)
    columns = [10 * k, 190_000_007 * k, k, 200_003 * k][: 3 + more]
    names = "time_s,octets,drops,packets"[: None if more else -8]
    measured = counted(tmp_path, *columns, names=names, rate="155 Mbit/s", rtt="50 ms..150 ms")
    assert headline(measured.to_dict()) == said


def test_an_assumed_size_is_said_and_its_error_is_in_the_interval(tmp_path):
    """Counters of 149 Mbit/s and 10 drops a second, perhaps with packets of one size."""
    octets = 18_625_000 * AT
    told = counted(tmp_path, AT, octets, 10 * AT, rate="155 Mbit/s")
    assert any("octets over 1500 B are taken" in each for each in told.notes)
    loss, n = told.estimates["loss_rate"], told.estimates["long_flows"]
    names = "time_s,octets,drops,packets"
    for size in (1500, 700, 340):
        columns = (AT, octets, 10 * AT, np.round(octets / size))
        known = counted(tmp_path, *columns, names=names, rate="155 Mbit/s")
        assert not any("octets over" in each for each in known.notes)
        assert 0.99 * loss.low <= known.estimates["loss_rate"].value <= 1.01 * loss.high
        own = known.estimates["long_flows"]
        assert n.low <= own.value <= n.high
    assert (n.high / n.low) / (own.high / own.low) > 1.5, "not knowing the size costs"
