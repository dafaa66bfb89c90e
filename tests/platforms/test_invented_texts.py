"""Texts whose rate or size stands in another place, or in another unit, than most have it."""

from __future__ import annotations

import json

import pytest
from tests.platforms.reading import one, said

from forebay.platforms import Port, lint

PORT = Port(1e9, pool_bytes=32_000_000)


def served(text: str, platform: str) -> float | None:
    """Return the rate in bit/s of the only queue of a text; None if it is the port's."""
    reading = one(text, PORT, platform)
    return None if reading.served is None else float(reading.served.rate_bps)


TYPE = "/queue type add kind=pfifo name=w pfifo-limit=100\n"


@pytest.mark.parametrize(
    ("tree", "rate"),
    [
        ("add name=top parent=ether1 max-limit=20M\nadd name=leaf parent=top queue=w max-limit=90M",
         20e6),
        ("add name=top parent=ether1 max-limit=20M\nadd name=leaf parent=top queue=w", 20e6),
        ("add name=top parent=ether1 max-limit=700M\nadd name=mid parent=top max-limit=30M\n"
         "add name=leaf parent=mid queue=w max-limit=90M", 30e6),
        ("add name=leaf parent=ether1 queue=w", None),
        ("add name=a parent=b queue=w max-limit=5M\nadd name=b parent=a max-limit=3M", 3e6),
    ],
)  # fmt: skip
def test_routeros_drains_at_the_least_limit_above(tree: str, rate: float | None) -> None:
    assert served(f"{TYPE}/queue tree\n{tree}\n", "mikrotik") == rate


def test_routeros_memory_of_fq_codel_is_said() -> None:
    text = "/queue type add kind=fq-codel name=f fq-codel-limit=500 fq-codel-memlimit=64.0KiB\n"
    assert "its memory ends at 64.0KiB too" in said(one(text, PORT, "mikrotik"))


def sonic(key: str, scheduler: dict[str, str], **more: object) -> str:
    """Return a profile of 30 kB for a key of queues, and a scheduler."""
    tables = {
        "BUFFER_PROFILE": {"q": {"pool": "p", "size": "0", "static_th": "30000"}},
        "BUFFER_QUEUE": {key: {"profile": "q"}},
        "SCHEDULER": {"s": scheduler},
    }
    return json.dumps(tables | more)


BYTES, PACKETS = {"pir": "1250000", "meter_type": "bytes"}, {"pir": "500", "meter_type": "packets"}


@pytest.mark.parametrize(
    ("key", "scheduler", "more", "rate"),
    [
        ("Ethernet0,Ethernet4|3-4", BYTES, {"QUEUE": {"Ethernet4|3": {"scheduler": "s"}}}, 1e7),
        ("Ethernet8|2", BYTES, {"QUEUE": {"Ethernet0,Ethernet8|0-7": {"scheduler": "s"}}}, 1e7),
        ("Ethernet0|3", BYTES, {"PORT_QOS_MAP": {"Ethernet0": {"scheduler": "s"}}}, 1e7),
        ("Ethernet0|3", PACKETS, {"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}}, 500 * 12_000.0),
        ("Ethernet0|3-4", BYTES, {"QUEUE": {"Ethernet0|5": {"scheduler": "s"}}}, None),
        ("Ethernet0|4-3", BYTES, {"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}}, None),
    ],
)
def test_sonic_finds_the_scheduler_of_a_queue(
    key: str, scheduler: dict[str, str], more: dict[str, object], rate: float | None
) -> None:
    found = lint(sonic(key, scheduler, **more), PORT).readings
    assert rate in [each.served and each.served.rate_bps for each in found]
    alone = sum("|" in place for place in key.split(",")) == 1 and "," not in key
    assert len(found) == 1 or not alone, "a queue without the scheduler has the port's rate"


@pytest.mark.parametrize(
    ("text", "rate"),
    [("100mibit", 104_857_600.0), ("3kibps", 24_576.0), ("2.5Gibit", 2684354560.0)],
)
def test_tc_reads_powers_of_1024(text: str, rate: float) -> None:
    line = f"tc qdisc add dev a root tbf rate {text} burst 32kbit limit 1mb"
    assert served(line, "linux-tc") == rate


@pytest.mark.parametrize("rate", ["20%", "$RATE", "50mbits", "${DOWN}kbit"])
def test_tc_says_which_rate_it_does_not_know(rate: str) -> None:
    text = (
        "tc qdisc add dev a root handle 1: htb default 1\n"
        f"tc class add dev a parent 1: classid 1:1 htb rate {rate}\n"
        "tc qdisc add dev a parent 1:1 pfifo limit 100\n"
    )
    assert f'the rate "{rate}" is not known' in said(one(text, PORT))
    assert f'the rate "{rate}" is not known' in said(
        one(f"tc qdisc add dev a root tbf rate {rate} burst 5k limit 1mb", PORT)
    )


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ("limit 10240p flows 1024 memory_limit 4Mb ecn", 4 << 20),
        ("limit 100 memory_limit 32Mb", 150_000),
        ("memory_limit 90000", 90_000),
    ],
)
def test_fq_codel_ends_at_its_memory(options: str, size: int) -> None:
    reading = one(f"tc qdisc replace dev a root fq_codel {options}", PORT)
    assert reading.bytes == size
    assert ("memory_limit comes first" in said(reading)) is (size != 150_000)


@pytest.mark.parametrize(
    "leaf", ["pfifo 0: dev e0 parent :{} limit 40p", "bfifo 0: dev e0 parent :{} limit 9Kb"]
)
def test_leaves_without_a_handle_are_all_read(leaf: str) -> None:
    leaves = "\n".join(f"qdisc {leaf.format(each)}" for each in (3, 2, 1))
    found = lint(f"qdisc mq 0: dev e0 root\n{leaves}\n", PORT)
    assert not found.unread
    assert [each.bytes is None for each in found.readings] == [True, False, False, False]


def test_sros_knows_no_megabytes() -> None:
    text = "sap-egress 10 create\n queue 1 create\n  mbs 2 megabytes\n exit\nexit\n"
    reading = one(text, PORT, "sros")
    assert reading.bytes is None and "not megabytes" in said(reading)


def test_sqm_that_is_not_enabled_is_said() -> None:
    text = "config queue 'wan'\n\toption enabled '{}'\n\toption upload '9500'\n"
    off, on = (said(one(text.format(each), PORT)) for each in "01")
    assert "nothing of it is set up" in off and "nothing of it" not in on
