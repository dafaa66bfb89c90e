"""Kinds of traffic: which flows count, when they start, and what their lengths are."""

import pytest
from tests.refused import refused

from forebay.scenario import Scenario, Short, Standing, loads

HEAD = 'queue.size = "100 packets"\nlink.rate = "100 Mbit/s"\n'
LONG = '[[traffic]]\nflows = 100\nrtt = "50 ms"\n'
SHORT = '[[traffic]]\nkind = "short"\nload = 0.5\nlength = "14 packets"\nrtt = "200 ms"\n'
SESSION = '[[traffic]]\nkind = "session"\nflows = 30\nfile = "60 kB"\nrtt = "80 ms"\n'
UDP = '[[traffic]]\nkind = "udp"\nflows = 10\nrate = "1 Mbit/s"\npacket = "200 B"\n'
ONOFF = '[[traffic]]\nkind = "onoff"\nflows = 10\npeak_rate = "1 Mbit/s"\non = "1 s"\noff = "3 s"\n'
ROOT_N = 'queue.size="1 bdp/sqrt(n)"'


def scenario(*parts: str, sets: tuple[str, ...] = ()) -> Scenario:
    return loads(HEAD + "".join(parts), overrides=sets)


def test_root_n_needs_an_n_in_each_direction() -> None:
    backwards = SHORT + 'direction = "reverse"\n'
    for parts in ((SHORT,), (SHORT, backwards)):
        with refused("without flows", "contradiction", "queue.size"):
            scenario(*parts, sets=(ROOT_N,))
    assert scenario(SESSION, sets=(ROOT_N,)).buffer_packets > 1
    acks = scenario(LONG, backwards, sets=(ROOT_N,))
    assert acks.at_link("reverse").n_for_size == 100 and acks.queue_packets("reverse") > 0


@pytest.mark.parametrize(
    ("parts", "flows", "rtt", "packet"),
    [
        ((LONG, SHORT, SESSION, UDP), 100, 0.05, 1500),
        ((SHORT, SESSION, UDP), 30, 0.08, 1500),
        ((SHORT, UDP), 0, 0.2, 1500),
        ((UDP,), 0, 0.0, 200),
        ((UDP, LONG + 'direction = "reverse"\n'), 0, 0.05, 200),  # their ACKs cross it
    ],
)
def test_which_flows_count(parts: tuple[str, ...], flows: int, rtt: float, packet: int) -> None:
    """A buffer's n is the number of long flows (Appenzeller et al. 2004, §5.1.3, note 8)."""
    read = scenario(*parts)
    assert (read.n_flows, read.packet) == (flows, packet)
    assert read.mean_rtt == pytest.approx(rtt)


def test_load_and_rate_say_the_same() -> None:
    """80 Mbit/s at a load of 0.8 carry 64e6 / (14 * 12000) flows of 14 packets a second."""
    group = scenario(SHORT, sets=("traffic.0.load=0.8",)).traffic[0]
    assert group.arrivals_per_second(80e6) == pytest.approx(380.952381)  # type: ignore[union-attr]
    by_load = UDP.replace('rate = "1 Mbit/s"', "load = 0.1")
    assert scenario(by_load).traffic[0].flow_rate(100e6) == 1e6  # type: ignore[union-attr]
    assert scenario(ONOFF).traffic[0].flow_rate(1.0) == 250e3  # type: ignore[union-attr]


def test_a_delayed_ack_timeout_where_acks_can_wait_so_long() -> None:
    right = LONG + 'delayed_ack_timeout = "250 ms"\nsender = "ns2"\ndelayed_ack = true\n'
    assert scenario(right).traffic[0].delayed_ack_timeout == 0.25


@pytest.mark.parametrize(
    ("length", "squared"),
    [
        ("9 packets", 1.0),
        ({"geometric": "9 packets"}, 2.0 - 1.0 / 9.0),
        ({"lognormal": {"mean": "9 packets", "deviation": "18 packets"}}, 5.0),
        ({"pareto": {"mean": "20 packets", "shape": 1.2}}, 1110.0),
        ({"pareto": {"mean": "20 packets", "shape": 2.0, "high": "2000 packets"}}, 2.6),
    ],
)
def test_mean_squares_of_lengths(length: object, squared: float) -> None:
    """Of a Pareto law that is not cut it is (a - 1)^2 / a (a - 2) from a = 2 on."""
    group = Short(load=0.1, length=length)  # type: ignore[arg-type]
    assert group.length.in_packets(1500).mean_square == pytest.approx(squared, rel=0.2)


def made(measure: str, traffic: str = "flows = 5\n") -> Scenario:
    return loads(f"{HEAD}[measure]\n{measure}\n[[traffic]]\n{traffic}")


def last(scenario: Scenario) -> str:
    group = scenario.traffic[0]
    assert isinstance(group, Standing)
    return str(group.start.high)


@pytest.mark.parametrize(
    ("measure", "within"),
    [
        ("", "10 s"),
        ('warmup = "60 s"', "10 s"),
        ('warmup = "1 s"', "1 s"),
        ('warmup = "1 us"', "1 us"),
        ('warmup = "0 s"\nduration = "10 s"', "2 s"),
        ('warmup = "0 s"\nduration = "86400 s"', "10 s"),
        ('warmup = "0 s"\nduration = "1 ms"', "200 us"),
    ],
)
def test_flows_start_within_the_warm_up_or_the_first_fifth(measure: str, within: str) -> None:
    assert last(made(measure)) == within


def test_what_was_written_stays_and_what_was_not_follows_the_window() -> None:
    asked, later = made('warmup = "1 s"'), {"measure.warmup": "3 s"}
    assert "start" not in asked.traffic[0].model_fields_set
    assert last(asked.replace(later)) == "3 s"
    assert last(asked.replace({"traffic.0.start": "4 s"}).replace(later)) == "4 s"
    assert last(Scenario(link=asked.link, traffic=asked.traffic)) == "10 s"
    assert last(asked) == "1 s"
    workers = 'kind = "requests"\nflows = 4\nresponse = "9 kB"\nthink = "5 ms"\n'
    assert last(made('warmup = "1 s"', workers)) == "0 s", "requests begin at once"
