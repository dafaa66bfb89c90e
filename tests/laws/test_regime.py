"""Which law governs a scenario: one decision for every engine."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.scenarios import scenario

import forebay
from forebay.catalogue import CONTROLS
from forebay.engines.errors import NoLaw
from forebay.laws import LAWS, assumptions, governing_law, regime_of
from forebay.laws.quantities import may_congest
from forebay.scenario import CONGESTION_CONTROLS, Scenario, loads

VARIED = '{ uniform = ["60 ms", "120 ms"] }'
EQ6, MIX = "appenzeller-2004/utilization", "appenzeller-2004/mix"
STEP, BURSTS = "appenzeller-2004/synchronized", "appenzeller-2004/exact-bursts"
SINGLE, GENTLE = "appenzeller-2004/single-flow", "spang-2021/single-flow"


def link(*groups: str, top: str = "", sets: Sequence[str] = ()) -> Scenario:
    """155 Mbit/s: 1162 packets of path at 90 ms."""
    traffic = "".join(f"[[traffic]]\n{group}\n" for group in groups)
    return loads(
        f'link.rate = "155 Mbit/s"\nqueue.size = "100 packets"\n{top}\n{traffic}', overrides=sets
    )


def long(flows: int, control: str = '"reno"', rtt: str = VARIED, more: str = "") -> str:
    return f"flows = {flows}\ncongestion_control = {control}\nrtt = {rtt}\n{more}"


def short(load: float, length: str = '"14 packets"', more: str = "") -> str:
    return f'kind = "short"\nload = {load}\nlength = {length}\nrtt = {VARIED}\n{more}'


def udp(load: float, more: str = "") -> str:
    return f'kind = "udp"\nflows = 4\nload = {load}\n{more}'


def users(flows: int) -> str:
    return f'kind = "session"\nflows = {flows}\nfile = "30 kB"\nrtt = {VARIED}'


def video(load: float) -> str:
    return f'kind = "video"\nflows = 1\nrate = "{155 * load} Mbit/s"'


def onoff(peak: str) -> str:
    return f'kind = "onoff"\nflows = 10\npeak_rate = "{peak}"\non = "1 s"\noff = "3 s"'


OTHER = '[[links]]\nname = "other"\nrate = "100 Mbit/s"\nqueue.size = "100 packets"'
MANY, FEW, ALIKE = "flows out of step", "few flows", "round trips alike"
PACED, OPEN, OVER = "paced by a model", "open-loop traffic", "overloaded"
MANAGED, ENDING, BESIDE = "managed queue", "flows that end", "long flows beside others"
IDLE = "uncongested"

CASES: list[tuple[str, Scenario, str, str | None]] = [
    ("one reno", link(long(1)), "one flow", SINGLE),
    ("one dctcp without marks", link(long(1, '"dctcp"')), "one flow", SINGLE),
    ("one cubic", link(long(1, '"cubic"')), "one flow", GENTLE),
    ("one scalable", link(long(1, '"scalable"')), "one flow", GENTLE),
    ("one bic", link(long(1, '"bic"')), "one flow", None),
    ("two", link(long(2)), FEW, STEP),
    ("nine of one round trip", link(long(9, rtt='"90 ms"')), FEW, STEP),
    ("three cubic", link(long(3, '"cubic"')), FEW, GENTLE),
    ("three of two kinds", link(long(3, "{ cubic = 0.4, reno = 0.6 }")), FEW, STEP),
    ("ten", link(long(10)), MANY, EQ6),
    ("99", link(long(99)), MANY, EQ6),
    ("250", link(long(250)), MANY, EQ6),
    ("1 % of spread", link(long(50, rtt='{ uniform = ["90 ms", "91 ms"] }')), MANY, EQ6),
    ("250 of one round trip", link(long(250, rtt='"90 ms"')), ALIKE, None),
    ("two classes of one each", link(long(50, rtt='"90 ms"'), long(50, rtt='"80 ms"')), MANY, EQ6),
    ("windows below a packet", link(long(5000)), "windows below a packet", None),
    *(
        (f"100 {name}", link(long(100, f'"{name}"')),
         *((PACED, None) if CONTROLS[name].is_model_based else (MANY, EQ6)))
        for name in CONGESTION_CONTROLS
    ),
    ("50 bbr3", link(long(50, '"bbr3"')), PACED, None),
    ("cubic and reno", link(long(100, "{ cubic = 0.5, reno = 0.5 }")), MANY, EQ6),
    ("cubic and bbr3", link(long(300, "{ cubic = 0.6, bbr3 = 0.4 }"), short(0.1)), PACED, None),
    ("2 % bbr in a class of its own", link(long(98), long(2, '"bbr"')), PACED, None),
    ("short flows by bbr", link(short(0.5, more='congestion_control = "bbr"')), PACED, None),
    ("bbr elsewhere", link(long(100), long(9, '"bbr"', more='route = ["other"]'), top=OTHER),
     MANY, EQ6),
    *(
        (name, link(long(100), sets=[f"queue.discipline={name}"]), MANAGED, None)
        for name in ("red", "pie", "codel", "fq_codel", "dualpi2", "cobalt", "cake",
                     "pfifo_head_drop")
    ),
    ("dctcp that is marked", link(long(100, '"dctcp"', more="ecn = true"),
                                  sets=["queue.discipline=red", "queue.ecn=true"]), MANAGED, None),
    ("bfifo", link(long(100), sets=["queue.discipline=bfifo"]), MANY, EQ6),
    ("marks that drop-tail never makes", link(long(100, more="ecn = true")), MANY, EQ6),
    ("short", link(short(0.8)), "short flows only", BURSTS),
    ("short, marked by codel", link(short(0.8), sets=["queue.discipline=codel"]), MANAGED, None),
    ("short and datagrams", link(short(0.5), udp(0.2)), "short flows only", BURSTS),
    ("short at full load", link(short(1.0)), OVER, None),
    ("short above it", link(short(1.7)), OVER, None),
    ("short of 2000 packets", link(short(0.5, '"2000 packets"')), ENDING, None),
    ("short of a heavy tail", link(short(0.9, '{ pareto = { mean = "60 packets", shape = 1.2 } }')),
     ENDING, None),
    ("short behind a window", link(short(0.5, '"80 packets"', "max_window = 12")), ENDING, None),
    ("users", link(users(200)), ENDING, None),
    ("users and video", link(users(200), video(0.1)), ENDING, None),
    ("long and 20 % short", link(long(100), short(0.2)), MANY, MIX),
    ("long and 60 % short", link(long(100), short(0.6)), BESIDE, None),
    ("long and 95 % short", link(long(100), short(0.95)), ENDING, None),
    ("long and 200 % short", link(long(100), short(2.0)), OVER, None),
    ("long and a few users", link(long(100), users(50)), MANY, EQ6),
    ("long and many users", link(long(100), users(300)), BESIDE, None),
    ("long and 0.2 % datagrams", link(long(100), udp(0.002)), MANY, EQ6),
    ("long and 15 % video", link(long(100), video(0.15)), MANY, EQ6),
    ("long and 30 % datagrams", link(long(100), udp(0.3)), "real-time mixed", None),
    ("long and 150 % datagrams", link(long(100), udp(1.5)), OVER, None),
    ("datagrams", link(udp(0.6)), IDLE, BURSTS),
    ("datagrams above the rate", link(udp(1.2)), OVER, None),
    ("video", link(video(0.5)), OPEN, None),
    ("on and off, peaks that fit", link(onoff("15 Mbit/s")), IDLE, None),
    ("on and off, peaks that do not", link(onoff("50 Mbit/s")), OPEN, None),
    ("slow access", link(long(15, more='access_rate = "10 Mbit/s"')), IDLE, BURSTS),
    ("slow access, bbr", link(long(15, '"bbr"', more='access_rate = "10 Mbit/s"')), IDLE, BURSTS),
    ("windows that the path holds", link(long(100, more="max_window = 11")), IDLE, BURSTS),
    ("windows that it does not", link(long(100, more="max_window = 12")), MANY, EQ6),
    ("reverse alone but for datagrams", link(udp(0.1), long(9, more='direction = "reverse"')),
     IDLE, BURSTS),
    ("both ways", link(long(100), long(100, more='direction = "reverse"')), "ACKs queue", None),
    ("a little in reverse", link(long(100), udp(0.1, 'direction = "reverse"')), MANY, EQ6),
    ("ACKs over a busy link", link(long(100, more='return_route = ["other"]'),
                                   long(9, more='route = ["other"]'), top=OTHER),
     "ACKs queue", None),
    ("over a further link", link(long(100, more='route = ["bottleneck", "other"]'), top=OTHER),
     MANY, EQ6),
    ("listed transfers", link('kind = "transfers"\nrtt = "20 ms"\n'
                              'transfers = [{ start = "21 s", size = "1 MB" }]\n'),
     "flows that end", None),
    ("strangers alone", link(long(9, more='route = ["other"]'), top=OTHER), "no traffic", None),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "regime", "law"), [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_one_decider(asked, regime, law):
    """What size says governs is what theory answers by; without a law it says where to look."""
    told = regime_of(asked)
    assert (told.regime, told.law) == (regime, law)
    chosen = governing_law(asked)
    assert (None if chosen is None else chosen.name) == law
    assert law is None or law in {each.name for each in LAWS}
    assert all(
        line.endswith(".") and "\n" not in line for line in (str(told.why), str(told.would_change))
    )
    assert "rise and fall in step" not in str(told.why), "words of what is not so"
    if not any(group.kind == "long" for group in asked.crossing):
        assert "TCP need" not in str(told.why) and "for TCP keeps" not in str(told.why)
    if law is None and told.regime not in ("overloaded", "uncongested", "no traffic"):
        words = f"{told.why} {told.would_change}"
        assert "Use simulation" in words and "synchronization (forebay trace)" in words
    if law is None:
        with pytest.raises(NoLaw):
            forebay.run(asked, "theory")
    else:
        forebay.run(asked, "theory")


@pytest.mark.parametrize("size", ["10 packets", "10 bdp"])
def test_what_is_said_does_not_hang_on_the_size_that_is_looked_for(size):
    said = regime_of(link(long(100), sets=[f"queue.size={size}"]))
    assert said == regime_of(link(long(100)))
    assert "the path holds 11.6 packets of each" in str(said.why)


def test_every_kind_without_response_together_is_open_loop_traffic(tmp_path: Path) -> None:
    packets = tmp_path / "packets.csv"
    packets.write_text("time_s,bytes\n0,1500\n0.5,1500\n")
    replay = f'kind = "replay"\nflows = 1\nfile = "{packets}"\n'
    all_kinds = link(udp(0.1), video(0.1), onoff("1 Mbit/s"), replay)
    assert regime_of(all_kinds).regime == OPEN


@pytest.mark.parametrize(("mbps", "congests"), [(155, False), (154, True)])
def test_a_further_link_congests_if_it_is_slower_than_what_may_come(mbps: int, congests: bool):
    over = OTHER.replace("100 Mbit/s", f"{mbps} Mbit/s")
    of = link(long(100, more='route = ["bottleneck", "other"]'), top=over)
    assert may_congest(of, "other") == congests


def test_the_public_answer_carries_it():
    asked = link(long(300), sets=["goals.utilization=0.98"])
    told = forebay.size(asked, engine="theory").to_dict()
    assert set(told["governs"]) == {"regime", "law", "why", "would_change"}
    assert told["governs"]["regime"] == MANY and "300 flows" in told["governs"]["why"]
    asked_for = {each["law"]: each for each in told["laws"]}[EQ6]
    assert asked_for["packets_whole"] - 1 < asked_for["packets"] <= asked_for["packets_whole"]
    assert told["buffer"]["packets"] == asked_for["packets_whole"]


@pytest.mark.parametrize(("last", "holds"), [("10 s", True), ("10.1 s", False)])
def test_flows_may_start_until_the_end_of_the_warm_up(last, holds):
    starts = {"traffic.0.start": {"uniform": ["0 s", last]}, "measure.warmup": "10 s"}
    assert (assumptions.settled(scenario(starts)) is None) is holds


@pytest.mark.parametrize(
    ("control", "widest_ms", "times"),
    [("reno", 119, (0.8, 4.0)), ("reno", 121, (0.8, 2.1)),
     ("cubic", 119, (1.2, 4.5)), ("cubic", 121, (1.2, 2.6))],
)  # fmt: skip
def test_how_far_simulation_lies_from_the_law_hangs_on_the_spread_of_round_trips(
    control: str, widest_ms: int, times: tuple[float, float]
) -> None:
    rtt = f'{{ uniform = ["80 ms", "{widest_ms} ms"] }}'
    assert regime_of(link(long(100, f'"{control}"', rtt))).times_simulation == times
