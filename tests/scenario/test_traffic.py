"""Kinds of traffic: what each needs, what is refused, and which flows count."""

import pytest

from forebay.scenario import KINDS, Replay, Scenario, ScenarioError, Short, loads

from .build import SMALLEST, kinds

HEAD = 'queue.size = "100 packets"\nlink.rate = "100 Mbit/s"\n'
LONG = '[[traffic]]\nflows = 100\nrtt = "50 ms"\n'
SHORT = '[[traffic]]\nkind = "short"\nload = 0.5\nlength = "14 packets"\nrtt = "200 ms"\n'
SESSION = '[[traffic]]\nkind = "session"\nflows = 30\nfile = "60 kB"\nrtt = "80 ms"\n'
UDP = '[[traffic]]\nkind = "udp"\nflows = 10\nrate = "1 Mbit/s"\npacket = "200 B"\n'
ONOFF = '[[traffic]]\nkind = "onoff"\nflows = 10\npeak_rate = "1 Mbit/s"\non = "1 s"\noff = "3 s"\n'
VIDEO = '[[traffic]]\nkind = "video"\nflows = 2\nrate = "1.3 Mbit/s"\n'


def scenario(*parts: str, sets: tuple[str, ...] = ()) -> Scenario:
    return loads(HEAD + "".join(parts), overrides=sets)


def refusal(*parts: str, sets: tuple[str, ...] = ()) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        scenario(*parts, sets=sets)
    assert len(str(caught.value).splitlines()) == 1
    assert "; write " in str(caught.value)
    return caught.value


def test_every_kind_is_generated_here_but_the_one_that_needs_a_file() -> None:
    assert set(KINDS) == {*kinds, "replay"}


@pytest.mark.parametrize("text", [LONG, SHORT, SESSION, UDP, ONOFF, VIDEO])
def test_the_kind_decides(text: str) -> None:
    group = scenario(text).traffic[0]
    assert type(group).__name__.lower() == group.kind


@pytest.mark.parametrize(
    ("text", "setting", "code", "said"),
    [
        (LONG, "kind=vidoe", "unknown-name", 'did you mean "video"'),
        (LONG, "kind=3", "unknown-name", '"long", "short"'),
        (LONG, "load=0.5", "unknown-key", "kinds with it: short, transfers, udp, video"),
        (SHORT, "flows=3", "unknown-key", "traffic.0."),
        (SHORT, "arrival_rate=3.0", "contradiction", "either load or arrival_rate"),
        (SHORT, "load=0.0", "out-of-range", "below the least"),
        (SHORT, "load=0.5 Mbit/s", "wrong-type", "number"),
        (SHORT, "length=14", "no-unit", '"14 packets"'),
        (SHORT, "length=0 packets", "out-of-range", "more than 0"),
        (SHORT, "length=2e9 packets", "out-of-range", "1000000000"),
        (SHORT, "length=3 s", "wrong-dimension", "a number of packets or a data size"),
        (SHORT, 'length={geometrik="3 packets"}', "unknown-key", 'did you mean "geometric"'),
        (SHORT, 'length={pareto={mean="30 packets"}}', "missing", "shape"),
        (SHORT, 'length={pareto={mean="30 packets",shape=0.0}}', "out-of-range", "0.1 to 100"),
        (
            SHORT,
            'length={pareto={mean="30 packets",shape=1.2,high="40 packets"}}',
            "out-of-range",
            "not below half of high",
        ),
        (
            SHORT,
            'length={pareto={mean="30 packets",shape=1.2,high="1 MB"}}',
            "wrong-dimension",
            "all of them in packets",
        ),
        (SESSION, 'file={geometric="1500 B"}', "out-of-range", "a mean of 1 packets"),
        (
            SHORT,
            'length={lognormal={mean="9 packets",deviation="9e6 packets"}}',
            "out-of-range",
            "deviation",
        ),
        (SESSION, "file=3", "no-unit", "packets"),
        (UDP, "load=0.3", "contradiction", "either rate or load"),
        (UDP, "rate=3", "no-unit", "bit/s"),
        (UDP, "rtt=1 s", "unknown-key", "traffic.0."),
        (ONOFF, 'on={exponential="0 s"}', "out-of-range", "mean"),
        (VIDEO, "hurst=1.0", "out-of-range", "0.5 to 0.99"),
        (VIDEO, "spacing=odd", "unknown-name", '"burst" or "even"'),
        (LONG, "direction=reverse", "contradiction", "forward"),
        (LONG, "access_sharing=0", "out-of-range", "below the least, 1"),
        (LONG, 'rtt={normal={mean="1 s"}}', "missing", "deviation"),
        (LONG, 'rtt={exponential="50 ms"}', "out-of-range", "0 s is below the least, 1 us"),
        (LONG, 'rtt={pareto={mean="1 s",shape=1.2,high="1 s"}}', "out-of-range", "not below high"),
        (LONG, "rtt={values=[]}", "wrong-type", "list of 1 to"),
        (LONG, 'rtt={values=["1 s","2 s"],shares=[0.5,0.6]}', "out-of-range", "sum to 1.1"),
        (LONG, 'rtt={values=["1 s","x"]}', "no-number", "traffic.0.rtt.values.1"),
        (
            LONG,
            'rtt={normal={mean="1 s",deviation="1 ms",low="3 s",high="4 s"}}',
            "out-of-range",
            "almost no probability",
        ),
    ],
)
def test_what_is_refused(text: str, setting: str, code: str, said: str) -> None:
    error = refusal(text, sets=(f"traffic.0.{setting}",))
    assert error.code == code
    assert said in str(error)


def test_one_of_two_is_needed() -> None:
    error = refusal(SHORT.replace("load = 0.5\n", ""))
    assert (error.code, error.field) == ("missing", "traffic.0")


def test_root_n_needs_an_n() -> None:
    error = refusal(SHORT, sets=("queue.size=1 bdp/sqrt(n)",))
    assert (error.code, error.field) == ("contradiction", "queue.size")
    assert scenario(SESSION, sets=("queue.size=1 bdp/sqrt(n)",)).buffer_packets > 1


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


def test_a_goal_beyond_shared_access_links_is_refused() -> None:
    """100 flows on 10 links of 8 Mbit/s cannot fill 100 Mbit/s; on 100 links they can."""
    sets = ("goals.utilization=0.9", "traffic.0.access_rate=8 Mbit/s")
    assert scenario(LONG, sets=sets).n_flows == 100
    shared = (*sets, "traffic.0.access_sharing=10")
    assert refusal(LONG, sets=shared).field == "goals.utilization"


def test_kinds_have_their_own_class_in_the_union() -> None:
    assert not isinstance(loads(SMALLEST).traffic[0], Replay)


@pytest.mark.parametrize(
    ("more", "said"),
    [('sender = "ns2"', "delayed_ack = true"), ("delayed_ack = false", "delayed_ack = true"),
     ("", "200 ms or less")],
)  # fmt: skip
def test_a_delayed_ack_timeout_needs_acks_that_can_wait_so_long(more: str, said: str) -> None:
    wrong = refusal(LONG, 'delayed_ack_timeout = "250 ms"\n', more)
    assert said in wrong.hint and wrong.field == "traffic.0.delayed_ack_timeout"
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
    law = group.length.in_packets(1500)
    assert law.mean_square == pytest.approx(squared, rel=0.2)
