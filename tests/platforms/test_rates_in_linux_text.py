"""The queue of a Linux host: its time is counted at the rate of its class, shaper or cake."""

from __future__ import annotations

import pytest
from tests.platforms.reading import drains, read, said

LEAF = """
tc qdisc add dev lan0 root handle 7: htb default 12
tc class add dev lan0 parent 7: classid 7:1 htb rate {top}
tc class add dev lan0 parent 7:1 classid 7:12 htb rate {rate} ceil {ceil}
tc qdisc add dev lan0 parent 7:12 handle 70: {leaf}
"""


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        # 200 packets of 1500 B at the class's ceil, or at what is above it if that is less
        (LEAF.format(top="1gbit", rate="10mbit", ceil="80mbit", leaf="pfifo limit 200"), 30.0),
        (LEAF.format(top="40mbit", rate="10mbit", ceil="80mbit", leaf="pfifo limit 200"), 60.0),
        (LEAF.format(top="1gbit", rate="24mbit", ceil="24mbit", leaf="pfifo limit 200"), 100.0),
        # as "tc qdisc show" and "tc class show" print them
        (
            "class htb 9:5 parent 9: prio 0 rate 6Mbit ceil 12Mbit burst 1599b cburst 1598b\n"
            "qdisc pfifo 95: dev dsl0 parent 9:5 limit 50p\n",
            50.0,
        ),
        (
            "tc qdisc add dev u0 root handle 1: hfsc default 1\n"
            "tc class add dev u0 parent 1: classid 1:1 hfsc sc rate 5mbit ul rate 30mbit\n"
            "tc qdisc add dev u0 parent 1:1 pfifo limit 100\n",
            40.0,
        ),
        # below a tbf that shapes
        (
            "tc qdisc add dev w0 root handle 3: tbf rate 60mbit burst 20kb limit 1mb\n"
            "tc qdisc add dev w0 parent 3:1 pfifo limit 250\n",
            50.0,
        ),
        # netem's own rate; 10 ms of it fly
        ("tc qdisc add dev e0 root netem rate 12112kbit delay 10ms limit 110", 99.07),
        ("tc qdisc add dev e0 root netem rate 20mbit limit 200", 120.0),
    ],
)  # fmt: skip
def test_a_leaf_of_tc_drains_at_its_class(text: str, milliseconds: float) -> None:
    assert drains(text)[1] == pytest.approx(milliseconds, rel=0.001)


def test_the_guaranteed_rate_of_a_class_is_said_too() -> None:
    text = LEAF.format(top="1gbit", rate="20mbit", ceil="50mbit", leaf="pfifo limit 100")
    assert "60 ms while others use the rest: 20 Mbit/s is guaranteed" in said(read(text), "note")


@pytest.mark.parametrize(
    ("options", "milliseconds"),
    [
        ("rate 100mbit burst 32kbit latency 400ms", 400.0),
        ("rate 25mbit burst 5kb latency 30ms", 30.0),
        ("rate 2mbit burst 1600 lat 1s", 1000.0),
        ("rate 512kbit burst 1540 limit 384k", 6120.0),  # 384 KiB less the burst
        ("rate 10mbit burst 10000 limit 135000", 100.0),
        ("rate 1gbit buffer 500kb limit 1500kb", 8.192),
    ],
)
def test_tbf_drains_at_its_own_rate(options: str, milliseconds: float) -> None:
    text = f"tc qdisc add dev eth0 root tbf {options}"
    assert drains(text)[1] == pytest.approx(milliseconds, rel=0.001)


CAKE = "qdisc cake 8001: dev ppp0 root refcnt 2 bandwidth {} diffserv3 triple-isolate rtt {} raw\n"


@pytest.mark.parametrize(
    ("text", "size", "target"),
    [
        (CAKE.format("190Mbit", "100ms") + " memory used: 98304b of 9500000b\n", 9_500_000, "5 ms"),
        (CAKE.format("18Mbit", "30ms") + " Sent 1 bytes\n memory used: 7b of 4Mb\n", 1 << 22,
         "1.5 ms"),
        # without what -s shows: 4 x rate x rtt, at least 4 MiB
        ("tc qdisc replace dev wan root cake bandwidth 400mbit rtt 50ms", 10_000_000, "2.5 ms"),
        ("tc qdisc add dev wan root cake bandwidth 20mbit metro", 1 << 22, "500 us"),
        ("tc qdisc add dev wan root cake bandwidth 20mbit memlimit 32mb", 32 << 20, "5 ms"),
    ],
)  # fmt: skip
def test_cake_has_a_rate_a_target_and_a_memory_limit(text: str, size: int, target: str) -> None:
    reading = read(text)
    assert reading.bytes == size and f"target {target}" in said(reading, "note")
    assert reading.served is not None and reading.served.by == "cake's bandwidth"


def test_cake_without_a_rate_and_noqueue_have_no_size() -> None:
    assert read("tc qdisc add dev a root cake").bytes is None
    assert "holds no packet" in said(read("qdisc noqueue 0: dev lo root refcnt 2"))


SQM = """
config queue 'wan'
\toption interface 'pppoe-wan'
\toption enabled '1'
\toption download '{down}'
\toption upload '{up}'
\toption qdisc '{qdisc}'
{more}"""


def test_openwrt_sqm_shapes_both_directions() -> None:
    text = SQM.format(down=50_000, up=10_000, qdisc="fq_codel", more="")
    assert read(text, queue="egress").packets == 1001  # sqm's default
    assert drains(text, queue="egress")[1] == pytest.approx(1201.2)
    assert drains(text, queue="ingress")[1] == pytest.approx(240.24)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (SQM.format(down=0, up=12_000, qdisc="pfifo",
                    more="\toption qdisc_advanced '1'\n\toption elimit '60'\n"), 90_000),
        (SQM.format(down=0, up=9_000, qdisc="fq_codel", more="\toption elimit '600'\n"), 900_000),
        (SQM.format(down=0, up=800_000, qdisc="cake", more=""), 40_000_000),
        ("sqm.wan=queue\nsqm.wan.upload='6000'\nsqm.wan.qdisc='fq_codel'\n", 1_501_500),
        ("uci set sqm.wan=queue\nuci set sqm.wan.upload='9000'\nuci set sqm.wan.qdisc='cake'\n",
         1 << 22),
    ],
)  # fmt: skip
def test_openwrt_sqm_in_its_forms(text: str, size: int) -> None:
    assert read(text, queue="egress").bytes == size


def test_a_text_of_show_commands_without_devices_is_one_tree() -> None:
    text = (
        "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_qlen 1000\n"
        "qdisc fq_codel 10: dev eth0 parent 1:30 limit 1000p flows 1024 target 5ms\n"
        "class htb 1:1 root rate 95Mbit ceil 95Mbit burst 1600b cburst 1600b\n"
        "class htb 1:30 parent 1:1 leaf 10: prio 0 rate 20Mbit ceil 90Mbit burst 1600b\n"
    )  # fmt: skip
    assert drains(text) == (1_500_000, pytest.approx(1000 * 8 * 1.5e6 / 90e6))
