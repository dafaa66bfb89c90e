"""Framing of an access line: cells and bytes that count at the line's rate, and nowhere else."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.refused import refused
from tests.scenarios import scenario

import forebay
from forebay.scenario import FRAMINGS, Scenario


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


@pytest.mark.parametrize("discipline", ["drop-tail", "codel", "cake"])
@pytest.mark.parametrize("framing", ["atm", "ptm", "ethernet"])
def test_packets_of_one_size_see_a_slower_link(framing, discipline):
    """Full packets on the framed line are as on a plain link of what it leaves them."""
    made = framed(framing, more={"queue.discipline": discipline})
    plain = made.replace({"link.framing": None, "link.rate": str(made.link.capacity)})
    one, other = (forebay.run(each, seeds=1).links["bottleneck"] for each in (made, plain))
    assert one.utilization.value == pytest.approx(other.utilization.value, abs=0.01)
    assert one.loss_rate.value == pytest.approx(other.loss_rate.value, rel=0.1)


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
    again = type(made).from_dict(made.to_dict())
    assert again.link.capacity == made.link.capacity
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
