"""A stream without TCP, measured and made again from its fit."""

import numpy as np
import pytest
from tests.measure.test_simulated import Played

TIMES = (0, 400)
FILM = """
[[traffic]]
kind = "video"
flows = 1
rate = "2 Mbit/s"
hurst = 0.8
variation = 0.4
start = "0 s"
spacing = "even"
"""
POISSON = """
[[traffic]]
kind = "udp"
flows = 1
rate = "2 Mbit/s"
arrivals = "poisson"
start = "0 s"
"""


def measured(tmp_path, traffic, seed):
    played = Played(tmp_path, "10 Mbit/s", 1000, TIMES, traffic, seed=seed)
    return played.measured(buffer="1000 packets", goal=0.1)


def beta(told):
    """The coefficient of variation over scales from a tenth of a second to one.

    At coarser ones 400 s have too few intervals: of 95, at 4.2 s, a variance's own error is 15 %.
    """
    seconds, found = (np.array(told.curves["burstiness"][name]) for name in ("seconds", "beta"))
    return found[(seconds > 0.1) & (seconds < 1)]


def test_a_film_made_again_has_its_load_its_h_and_its_burstiness(tmp_path):
    first = measured(tmp_path, FILM, 5)
    (group,) = first.scenario().traffic
    assert group.kind == "video"
    assert group.hurst == pytest.approx(0.8, abs=0.05)
    again = first.scenario_toml()[first.scenario_toml().index("[[traffic]]") :]
    again = again[: again.index("[measure]")]
    second = measured(tmp_path, again, 6)
    loads_ = [told.estimates["load"].value for told in (first, second)]
    assert loads_[1] == pytest.approx(loads_[0], rel=0.02)
    assert beta(second) == pytest.approx(beta(first), rel=0.15)


def test_the_time_of_a_packet_is_not_the_knee(tmp_path):
    """Frames of 1/60 s, whose packets leave the link one behind another, 0.6 ms each."""
    film = FILM.replace("2 Mbit/s", "10 Mbit/s").replace('spacing = "even"', "frame_rate = 60.0")
    played = Played(tmp_path, "20 Mbit/s", 1000, (0, 120), film, seed=1)
    told = played.measured(buffer="99 packets", goal=0.1)
    knee = told.estimates["burstiness_knee_s"]
    assert knee.low <= 1 / 60 <= knee.high
    assert told.scenario().traffic[0].kind == "video"
    assert told.estimates["hurst_by_slope"].value == pytest.approx(0.8, abs=0.06)


def test_a_poisson_stream_stays_one(tmp_path):
    (group,) = measured(tmp_path, POISSON, 5).scenario().traffic
    assert (group.kind, group.arrivals) == ("udp", "poisson")


def test_a_stream_that_was_captured_is_played_again_packet_by_packet(tmp_path):
    played = Played(tmp_path, "10 Mbit/s", 1000, (0, 20), POISSON, seed=5)
    kept = played.measured(replay=True)
    path = tmp_path / "stream.csv"
    path.write_text(kept.packet_list())
    group = f'[[traffic]]\nkind = "replay"\nflows = 1\nstart = "0 s"\nfile = "{path}"\n'
    again = Played(tmp_path, "10 Mbit/s", 1000, (0, 20), group, seed=1)
    second = again.measured(replay=True)
    lists = [np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
             for text in (kept.packet_list(), second.packet_list())]  # fmt: skip
    count = len(lists[1])
    assert count >= len(lists[0]) - 2, "all but what the window cuts off"
    assert np.array_equal(lists[1][:, 1], lists[0][:count, 1])
    service = 1500 * 8 / 10e6
    assert np.abs(lists[1][:, 0] - lists[0][:count, 0]).max() < service
