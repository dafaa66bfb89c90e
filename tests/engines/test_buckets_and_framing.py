"""Links with a shaper or a policer, and framing of an access line, from a scenario to an answer.

Cells and bytes of framing count at the line's rate, and nowhere else.
"""

from collections.abc import Mapping
from typing import Any, get_args

import pytest
from tests.refused import refused
from tests.scenarios import scenario

import forebay
from forebay.scenario import FRAMINGS, Scenario
from forebay.scenario.queue import Discipline


def answer(bucket: str, rate: str, refill: str, discipline: str = "drop-tail") -> forebay.Outcome:
    burst = {} if refill == "deficit" else {"burst": "15 kB"}
    udp = {"kind": "udp", "flows": 1, "rate": rate, "start": "0 s"}
    classes = [{"name": "all", "default": True}] if discipline == "classes" else []
    asked = {
        "link.rate": "100 Mbit/s",
        f"link.{bucket}": {"rate": "10 Mbit/s", "refill": refill} | burst,
        "queue": {"discipline": discipline, "size": "50 packets", "classes": classes},
        "traffic": [udp], "measure.duration": "10 s",
    }  # fmt: skip
    return forebay.run(scenario(asked), seeds=3)


@pytest.mark.parametrize("refill", ["continuous", "interval", "deficit"])
@pytest.mark.parametrize("discipline", get_args(Discipline))
def test_a_shaped_link_gives_its_rate(refill, discipline):
    outcome = answer("shaper", "40 Mbit/s", refill, discipline)
    link, udp = outcome.links["bottleneck"], outcome.classes[0]
    assert link.utilization.value == pytest.approx(1.0, abs=1e-6)
    # The rate, and what the bucket lets pass beside it: 2 Bc where tokens come at once, a packet
    # where none are kept.
    beyond = {"continuous": 15_000, "interval": 30_000, "deficit": 1500}[refill] * 8 / 10
    assert 10e6 - beyond <= udp.throughput_bps.value <= 10e6 + beyond
    assert link.loss_rate.value == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("refill", ["continuous", "interval"])
def test_a_policer_loses_what_is_above_its_rate(refill):
    """And below it nothing is lost, by a shaper too."""
    udp = answer("policer", "12.5 Mbit/s", refill).classes[0]
    assert udp.loss_rate.value == pytest.approx(0.2, abs=0.002)
    for bucket in ("shaper", "policer"):
        loss = answer(bucket, "9.9 Mbit/s", "continuous").links["bottleneck"].loss_rate
        assert loss.value == 0.0


@pytest.mark.parametrize(
    ("bucket", "said"),
    [
        ("shaper={rate='9 Mbit/s'}", "shaper.burst: is not written; write one, such as burst"),
        ("shaper={rate='9 Mbit/s', burst='9 kB', refill='deficit'}",
         'link.shaper.burst: refill = "deficit" keeps no tokens; leave it out'),
        ("policer={rate='9 Mbit/s', refill='deficit'}",
         "link.policer.refill: a policer without a bucket drops every burst"),
    ],
)  # fmt: skip
def test_a_burst_is_written_where_tokens_are_kept_and_only_there(bucket, said):
    with refused(said):
        forebay.load("oc3-gsr", [f"link.{bucket}"])


def framed(framing: str | None, packet: int = 1500, more: Mapping[str, Any] = {}) -> Scenario:
    long = {"flows": 4, "rtt": "40 ms", "packet": f"{packet} B"}
    return scenario(
        {"link.framing": framing, "traffic": [long], "measure.duration": "10 s", **more}
    )


@pytest.mark.parametrize(
    ("framing", "packet", "line"),
    [
        # 40 B and cells of 53 with 48: 1540 B are 33 cells, 80 B two, 48 B one
        ("atm", 1500, 33 * 53), ("atm", 40, 2 * 53), ("atm", 8, 53), ("atm", 9, 2 * 53),
        # 30 B, and a byte for each begun 64: 1530 B begin 24
        ("ptm", 1500, 1554), ("ptm", 40, 72), ("ptm", 34, 65),
        ("ethernet", 1500, 1538), ("ethernet", 46, 84), ("ethernet", 40, 84), ("ethernet", 47, 85),
    ],
)  # fmt: skip
def test_bytes_on_the_line(framing, packet, line):
    assert FRAMINGS[framing].packet(packet) == line  # type: ignore[index]
    assert framed(framing).link.on_line(packet) == line


@pytest.mark.parametrize(
    ("framing", "packet", "share"),
    [("atm", 1500, 1500 / 1749), ("ptm", 576, 576 / 616), ("ethernet", 200, 200 / 238)],
)
def test_sizes_and_laws_refer_to_what_is_left_for_packets(framing, packet, share):
    size = {"queue.size": "30 ms"}
    made = framed(framing, packet, size)
    plain = framed(None, packet, size | {"link.rate": f"{10 * share:.9g} Mbit/s"})
    assert made.link.capacity == pytest.approx(1e7 * share)
    assert made.link.line_capacity == made.link.rate == 1e7
    assert made.bdp_packets == pytest.approx(plain.bdp_packets)
    assert made.buffer_packets == plain.buffer_packets


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize(
    ("framing", "packet", "line"), [("atm", 100, 159), ("ptm", 100, 133), ("ethernet", 64, 102)]
)
def test_small_packets_take_more_of_the_line(framing, packet, line, shaped):
    """2 Mbit/s of datagrams fill line / packet as much of it."""
    udp = {"kind": "udp", "flows": 1, "start": "0 s", "rate": "2 Mbit/s", "packet": f"{packet} B"}
    shaper = {"link.shaper": {"rate": "8 Mbit/s", "burst": "10 kB"}} if shaped else {}
    found = forebay.run(framed(framing, more={"traffic": [udp]} | shaper)).links["bottleneck"]
    rate = 8e6 if shaped else 1e7
    assert found.utilization.value == pytest.approx(2e6 * line / packet / rate, rel=0.01)


def test_it_is_written_and_read_back_and_refused_elsewhere():
    made = framed("atm", 576)
    mixed = [{"flows": 1, "start": "0 s"}, {"flows": 9, "packet": "500 B"}]
    one_second = {"traffic": mixed, "measure.warmup": "0 s", "measure.duration": "1 s"}
    for asked in (made, framed("ethernet", more=one_second)):
        again = type(asked).from_dict(asked.to_dict())
        assert again.link.capacity == asked.link.capacity
    other = made.replace({"traffic.0.packet": "1500 B"})
    assert other.link.capacity == pytest.approx(1e7 * 1500 / 1749)
    assert made.link.capacity == pytest.approx(1e7 * 576 / 689), "made is as it was"
    with refused(r"link\.framing"):
        framed("sonet")
    with refused("smaller than a packet of 1749 B"):
        framed("atm", more={"link.shaper": {"rate": "8 Mbit/s", "burst": "1600 B"}})
    with refused("cannot be set with a topology"):
        topology = {"links": [{"between": ["A", "B"]}]}
        framed("ptm", more={"topology": topology, "traffic": [{"flows": 4}]})
