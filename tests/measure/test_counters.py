"""n from counters: the range holds the truth of the laws that it inverts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forebay import measure
from forebay.laws.sawtooth import loss_rate
from forebay.measure.counters import mean_windows
from forebay.report.measurement import headline
from forebay.scenario import loads

RATE = "100 Mbit/s"
BDP = 100e6 * 0.1 / 12000
ROWS = 200


def written(tmp_path, drops, *, load=1.0, cumulative=True, header="time_s,octets,drops"):
    octets = np.full(ROWS, load * 100e6 / 8)
    dropped = np.random.default_rng(2).poisson(drops, ROWS).astype(float)
    rows = np.stack([octets, dropped], axis=1)
    if cumulative:
        rows = np.cumsum(rows, axis=0) % 2**32
    path = tmp_path / "counters.csv"
    lines = [f"{at},{a:.0f},{b:.0f}" for at, (a, b) in enumerate(rows)]
    path.write_text("\n".join([header, *lines]))
    return path


def drops_of(flows):
    """Reno without a queue, a growth of one: paper A's appendix B, `laws.sawtooth`."""
    p = float(loss_rate(0.0, BDP / 0.75, flows))
    return p * 100e6 / 12000 / (1 - p)


@pytest.mark.parametrize("flows", [20, 100])
@pytest.mark.parametrize("cumulative", [True, False])
def test_the_range_holds_n(tmp_path, flows, cumulative):
    path = written(tmp_path, drops_of(flows), cumulative=cumulative)
    n = measure.counters(path, rate=RATE, rtt="100 ms").estimates["long_flows"]
    assert n.low <= flows <= n.high
    reno = measure.counters(path, rate=RATE, rtt="100 ms", congestion_control="reno")
    told = reno.estimates["long_flows"]
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


def test_the_scenario_is_one_that_a_sizing_takes(tmp_path):
    measured = measure.counters(written(tmp_path, drops_of(50)), rate=RATE, rtt="80 ms..120 ms")
    scenario = loads(measured.scenario_toml())
    assert scenario.flows_uncertain
    flows: Any = scenario.traffic[0].flows
    assert flows.low <= 50 <= flows.high


def test_what_counters_do_not_tell_is_refused(tmp_path):
    idle = measure.counters(written(tmp_path, 30, load=0.5), rate=RATE, rtt="100 ms")
    assert "limited elsewhere" in dict((one.name, one.why) for one in idle.refused)["long_flows"]
    with pytest.raises(measure.MeasureError, match="no scenario: without n there is none"):
        idle.scenario()
    lossless = measure.counters(written(tmp_path, 0), rate=RATE, rtt="100 ms")
    assert "0 drops" in dict((one.name, one.why) for one in lossless.refused)["long_flows"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_s,octets\n0,1\n", "has no column drops"),
        ("time_s,octets,drops\n0,0,0\n0,1,1\n", "times must rise"),
        ("time_s,octets,drops\n0,x,0\n", "line 2: octets is 'x'"),
        ("time_s,octets,drops\n0,0,0\n1,1e12,0\n2,9e12,0", "octets exceed rate"),
    ],
)
def test_a_table_that_is_none_is_told_in_one_line(tmp_path, text, said):
    path = tmp_path / "counters.csv"
    path.write_text(text)
    with pytest.raises(measure.MeasureError, match=said) as told:
        measure.counters(path, rate=RATE, rtt="100 ms")
    assert "\n" not in str(told.value)


def test_a_loss_rate_next_to_none_is_the_largest_window_there_is():
    """Not "f(a) and f(b) must have different signs"."""
    for control in ("reno", "cubic"):
        assert all(window <= 1e9 for window in mean_windows(control, 1e-30, 0.1))


def test_a_queue_that_no_poll_can_have_seen_is_refused(tmp_path):
    table = tmp_path / "a.csv"
    rows = (f"{at},{19_000_000 * at},{30 * at},1e300" for at in range(100))
    table.write_text("\n".join(["time_s,octets,drops,queue_packets", *rows, ""]))
    with pytest.raises(measure.MeasureError, match="how many packets were in the queue"):
        measure.counters(table, rate="155 Mbit/s", rtt="50 ms..150 ms")


@pytest.mark.parametrize(
    "wrong", [{"packet": "0 B"}, {"packet": "70 kB"}, {"buffer": "1e30 packets"}]
)
def test_sizes_that_no_link_has_are_refused(tmp_path, wrong):
    table = tmp_path / "a.csv"
    rows = (f"{at},{12_400_000 * at},{30 * at}" for at in range(100))
    table.write_text("\n".join(["time_s,octets,drops", *rows, ""]))
    with pytest.raises(measure.MeasureError, match="write"):
        measure.counters(table, rate="100 Mbit/s", rtt="50 ms..150 ms", **wrong)


def test_the_interval_of_the_loss_is_student_s_of_a_ratio(tmp_path):
    """Against the ratio estimator that the engines use: 20 batches, 19 degrees of freedom."""
    from forebay.outcome.statistics import ratio_half_width

    drops = np.random.default_rng(2).poisson(30.0, 200).astype(float)
    path = tmp_path / "counters.csv"
    rows = np.cumsum(np.stack([np.full(200, 100e6 / 8), drops], axis=1), axis=0)
    lines = [
        f"{at + 1},{octets:.0f},{lost:.0f},{octets / 1500:.3f}"
        for at, (octets, lost) in enumerate(rows)
    ]
    path.write_text("\n".join(["time_s,octets,drops,packets", "0,0,0,0", *lines]))
    told = measure.counters(path, rate=RATE, rtt="100 ms").estimates["loss_rate"]
    arrivals = drops + 100e6 / 8 / 1500
    batches = [each.reshape(20, -1).sum(axis=1) for each in (drops, arrivals)]
    half = ratio_half_width(*batches)
    assert told.value == pytest.approx(drops.sum() / arrivals.sum())
    assert (told.low, told.high) == pytest.approx((told.value - half, told.value + half))


def test_a_queue_lengthens_the_longer_round_trip_alone(tmp_path):
    """A buffer may be empty or full: the low end of n stays, the high end waits the whole of it."""
    path = written(tmp_path, drops_of(40))

    def n(buffer=None):
        told = measure.counters(
            path, rate=RATE, rtt="100 ms", congestion_control="reno", buffer=buffer
        )
        return told.estimates["long_flows"]

    packets = round(0.05 * 100e6 / 12000)
    without, full = n(), n(f"{packets} packets")
    assert full.low == pytest.approx(without.low)
    assert full.high == pytest.approx(1.5 * without.high, rel=0.01)


def sampled(tmp_path, rows, rate="1 Gbit/s"):
    path = tmp_path / "samples.csv"
    path.write_text(
        "time_s,octets,drops\n" + "".join(f"{30 * i},{a},{b}\n" for i, (a, b) in enumerate(rows))
    )
    return measure.counters(path, rate=rate, rtt="50 ms")


@pytest.mark.parametrize(
    ("rows", "load", "loss", "left_out"),
    [
        # all are cleared at the fourth sample
        ([(1_000_000_000, 50_000), (1_300_000_000, 50_100), (1_600_000_000, 50_200),
          (150_000_000, 40), (450_000_000, 140)], 0.08, 5e-4, 1),
        # beyond 32 bits
        ([(900_000_000_000, 50_000), (900_300_000_000, 50_100), (900_600_000_000, 50_200),
          (150_000_000, 40), (450_000_000, 140)], 0.08, 5e-4, 1),
        # drops alone
        ([(0, 500), (300_000_000, 600), (600_000_000, 700), (900_000_000, 2)], 0.08, 5e-4, 1),
        # both wrap
        ([(4_000_000_000, 4_294_967_200), (5_032_704, 4), (305_032_704, 104)], 0.08, 5e-4, 0),
    ],
)  # fmt: skip
def test_counters_that_are_cleared_have_not_wrapped(tmp_path, rows, load, loss, left_out):
    told = sampled(tmp_path, rows)
    assert told.estimates["load"].value == pytest.approx(load, rel=0.01)
    assert told.estimates["loss_rate"].value == pytest.approx(loss, rel=0.2)
    assert any("they were cleared" in each for each in told.notes) == bool(left_out)
    assert told.estimates["load"].n == len(rows) - 1 - left_out


def wrapped(tmp_path, seconds):
    """Counters of 32 bits of a link of 1 Gbit/s that is 95 % full, at these times."""
    path = tmp_path / "narrow.csv"
    rows = [f"{at},{round(0.95e9 / 8 * at) % 2**32},{40 * at}" for at in seconds]
    path.write_text("\n".join(["time_s,octets,drops", *rows]))
    return measure.counters(path, rate="1 Gbit/s", rtt="50 ms")


def test_counters_of_32_bits_that_wrap_between_rows_have_no_load(tmp_path):
    told = wrapped(tmp_path, range(0, 1800, 30)).estimates["load"]
    assert told.value == pytest.approx(0.95, rel=1e-3), "at most once in 30 s"
    with pytest.raises(measure.MeasureError, match=r"wraps 32 bits in 34.4 s, sooner than the 60"):
        wrapped(tmp_path, range(0, 1800, 60))
    missed = wrapped(tmp_path, [*range(0, 900, 30), *range(990, 1800, 30)])
    assert missed.estimates["load"].value == pytest.approx(0.95, rel=1e-3)
    assert any("1 of 56 intervals are left out" in each for each in missed.notes)


@pytest.mark.parametrize("column", [True, False])
def test_the_headline_counts_or_says_by_what_size_it_estimates(
    column: bool, tmp_path: Path
) -> None:
    rows = ["time_s,octets,drops" + ",packets" * column]
    rows += [f"{10 * k},{190_000_007 * k},{k}" + f",{200_003 * k}" * column for k in range(9)]
    (tmp_path / "day.csv").write_text("\n".join(rows))
    measured = measure.counters(tmp_path / "day.csv", rate="155 Mbit/s", rtt="50 ms..150 ms")
    said = headline(measured.to_dict())
    counted, estimated = "1,600,024 packets", "About 1,010,000 packets, of 1500 B,"
    assert said == f"{counted if column else estimated} in 80.000 s"
