"""A queue's time is counted at the rate that the same text gives it, and at the port's."""

from __future__ import annotations

import pytest
from tests.platforms.reading import said

from forebay.platforms import ConfiguredQueue, Port, lint

PORT = Port(1e10)


def read(text: str, platform: str | None = None, queue: str = "") -> ConfiguredQueue:
    """Lint a text on a port of 10 Gbit/s; of several queues the one whose name has ``queue``."""
    found = lint(text, PORT, platform=platform)
    assert not found.unread, found.text
    (reading,) = (each for each in found.readings if queue in each.queue)
    return reading


def drains(text: str, platform: str | None = None, queue: str = "") -> tuple[int | None, float]:
    """Return bytes and milliseconds of a queue of a text."""
    reading = read(text, platform, queue)
    seconds = reading.seconds(PORT)
    assert seconds is not None and reading.served is not None
    return reading.bytes, 1000 * seconds


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
        (SQM.format(down=0, up=800_000, qdisc="cake", more=""), 40_000_000),
        ("sqm.wan=queue\nsqm.wan.upload='6000'\nsqm.wan.qdisc='fq_codel'\n", 1_501_500),
        ("uci set sqm.wan=queue\nuci set sqm.wan.upload='9000'\nuci set sqm.wan.qdisc='cake'\n",
         1 << 22),
    ],
)  # fmt: skip
def test_openwrt_sqm_in_its_forms(text: str, size: int) -> None:
    assert read(text, queue="egress").bytes == size


PARENT = """policy-map INNER
 class class-default
  {limit}
policy-map OUTER
 class class-default
  shape average {shape}
  service-policy INNER
"""


@pytest.mark.parametrize(
    ("limit", "shape", "size", "milliseconds"),
    [
        ("queue-limit 50 ms", "200000000", 1_250_000, 50.0),
        ("queue-limit 20 ms", "percent 30", 7_500_000, 20.0),
        ("queue-limit 400 packets", "48m", 600_000, 100.0),
        ("queue-limit 125000 bytes", "10000000 40000 0", 125_000, 100.0),
        ("", "96000000", 600_000, 50.0),  # 50 ms, the default, at the parent's rate
    ],
)
def test_ios_xe_counts_at_the_parents_shape(
    limit: str, shape: str, size: int, milliseconds: float
) -> None:
    text = PARENT.format(limit=limit, shape=shape)
    assert drains(text, "ios-xe") == (size, pytest.approx(milliseconds))


@pytest.mark.parametrize(
    ("beside", "limit", "size", "milliseconds"),
    [
        ("shape average 300 mbps", "queue-limit 10 ms", 375_000, 10.0),
        ("shape average percent 5", "queue-limit 625 kbytes", 625_000, 10.0),
        ("shape average 80000 kbps 20 ms", "queue-limit 100000 bytes", 100_000, 10.0),
    ],
)
def test_ios_xr_counts_at_the_class_own_shape(
    beside: str, limit: str, size: int, milliseconds: float
) -> None:
    text = f"policy-map P\n class C\n  {beside}\n  {limit}\n !\n end-policy-map\n"
    assert drains(text, "ios-xr") == (size, pytest.approx(milliseconds))


SROS = "sap-egress {policy} create\n queue 3 create\n {rate}\n mbs {mbs}\n exit\nexit\n"
MD = """configure {{
    qos {{
        sap-egress "gold" {{
            queue 3 {{
                mbs {mbs}
                rate {{
                    pir {pir}
                }}
            }}
        }}
    }}
}}
"""


@pytest.mark.parametrize(
    ("text", "size", "milliseconds"),
    [
        (SROS.format(policy=8, rate="rate 200000 cir 50000", mbs="500"), 500_000, 20.0),
        (SROS.format(policy=9, rate="rate 40000", mbs="250 kilobytes"), 250_000, 50.0),
        (SROS.format(policy=10, rate="percent-rate 2", mbs="1000000 bytes"), 1_000_000, 40.0),
        (MD.format(mbs=600_000, pir=48_000), 600_000, 100.0),
        (
            '/configure qos sap-egress "a" queue 1 rate pir 8000\n'
            '/configure qos sap-egress "a" queue 1 mbs 30000\n',
            30_000,
            30.0,
        ),
    ],
)
def test_sros_counts_at_the_queues_rate(text: str, size: int, milliseconds: float) -> None:
    assert drains(text) == (size, pytest.approx(milliseconds))


def test_sros_rate_max_is_the_ports() -> None:
    assert read(SROS.format(policy=1, rate="rate max", mbs="500")).served is None


VYOS = "set qos policy shaper OUT {}\n"


def vyos(*words: str) -> str:
    return "".join(VYOS.format(each) for each in words)


@pytest.mark.parametrize(
    ("text", "milliseconds", "managed"),
    [
        (vyos("bandwidth '200mbit'", "class 4 bandwidth '20%'", "class 4 queue-limit '500'",
              "class 4 queue-type 'drop-tail'"), 150.0, False),
        (vyos("bandwidth '90mbit'", "default bandwidth '10%'", "default ceiling '100%'",
              "default queue-limit '300'", "default queue-type 'drop-tail'"), 40.0, False),
        (vyos("bandwidth '1gbit'", "class 7 bandwidth '24mbit'", "class 7 queue-limit '100'",
              "class 7 queue-type 'fq-codel'"), 50.0, True),
        ("qos {\n policy {\n  shaper OUT {\n   bandwidth 12mbit\n   default {\n"
         "    queue-limit 40\n    queue-type drop-tail\n   }\n  }\n }\n}\n", 40.0, False),
    ],
)  # fmt: skip
def test_vyos_counts_at_the_class_bandwidth(text: str, milliseconds: float, managed: bool) -> None:
    assert drains(text, "vyos")[1] == pytest.approx(milliseconds)
    assert ("not drop-tail" in said(read(text, "vyos"))) is managed


JUNOS = "set class-of-service schedulers wan buffer-size {}\n"
MAPPED = "set class-of-service scheduler-maps m forwarding-class af scheduler wan\n"


@pytest.mark.parametrize(
    ("text", "size", "milliseconds"),
    [
        (JUNOS.format("temporal 12k") + "set class-of-service schedulers wan shaping-rate 5g\n",
         15_000_000, 24.0),
        (JUNOS.format("temporal 30k") + MAPPED
         + "set class-of-service interfaces ge-0/0/1 scheduler-map m\n"
         + "set class-of-service interfaces ge-0/0/1 shaping-rate 400m\n", 1_500_000, 30.0),
        (JUNOS.format("percent 20 exact") + MAPPED
         + "set class-of-service traffic-control-profiles t scheduler-map m\n"
         + "set class-of-service traffic-control-profiles t shaping-rate 100m\n", 250_000, 20.0),
        (JUNOS.format("temporal 1000") + "set class-of-service schedulers wan transmit-rate "
         "percent 25 exact\n", 1_250_000, 4.0),
    ],
)  # fmt: skip
def test_junos_counts_at_the_shaping_rate(text: str, size: int, milliseconds: float) -> None:
    assert drains(text) == (size, pytest.approx(milliseconds))


@pytest.mark.parametrize(("written", "size"), [("5k", 6_250_000), ("250", 312_500), ("1m", None)])
def test_junos_temporal_reads_k_and_m(written: str, size: int | None) -> None:
    reading = read(JUNOS.format(f"temporal {written}"))
    assert reading.bytes == (size or 1_250_000_000)
    assert ("longer than the 100 ms" in said(reading)) is (size is None)


def test_junos_exact_borrows_nothing() -> None:
    reading = read(JUNOS.format("percent 10 exact"))
    assert reading.bytes == 12_500_000 and "may not borrow" in said(reading, "note")


NXOS = """policy-map type queuing E
  class type queuing c-out-8q-q2
    bandwidth remaining percent 30
    {}
"""


@pytest.mark.parametrize(
    ("lines", "size", "rate"),
    [
        ("random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes "
         "drop-probability 7 weight 0 ecn", 3_000_000, None),
        ("random-detect minimum-threshold 20 packets maximum-threshold 200 packets", 300_000, None),
        ("queue-limit 100 kbytes\n    random-detect minimum-threshold 1 mbytes "
         "maximum-threshold 2 mbytes", 100_000, None),
        ("shape 400 mbps\n    queue-limit 10 ms", 500_000, 4e8),
        ("shape min 1 gbps max 2 gbps\n    random-detect minimum-threshold 100 us "
         "maximum-threshold 400 us", 100_000, 2e9),
        ("shape percent 10\n    queue-limit 125000 bytes", 125_000, 1e9),
    ],
)  # fmt: skip
def test_nx_os_random_detect_and_shape(lines: str, size: int, rate: float | None) -> None:
    reading = read(NXOS.format(lines))
    assert reading.bytes == size
    assert (reading.served and reading.served.rate_bps) == rate


def test_nx_os_random_detect_without_thresholds_has_no_size() -> None:
    assert "thresholds not given" in said(read(NXOS.format("random-detect")))


@pytest.mark.parametrize(
    "lines",
    [
        " class GOLD\n  priority level 1 percent 20\n class class-default\n"
        "  bandwidth remaining percent 50\n  queue-buffers ratio 40\n",
        " class class-default\n  queue-buffers ratio 15\n",
        " class A\n  bandwidth percent 30\n!\nqos queue-softmax-multiplier 400\n",
    ],
)
def test_a_catalyst_is_no_asr_1000(lines: str) -> None:
    found = lint(f"policy-map P\n{lines}", PORT)
    assert found.platform == "ios-xe" and not found.unread
    for reading in found.readings:
        assert reading.bytes is None and "Catalyst" in said(reading) and "softmax" in said(reading)


@pytest.mark.parametrize(
    ("text", "size", "rate"),
    [
        ("/queue type\nset [ find name=lan ] pfifo-limit=80\n", 120_000, None),
        ("/queue type set default-small pfifo-limit=20\n", 30_000, None),
        ("/queue type\nadd kind=bfifo name=w bfifo-limit=60000\n"
         "/queue tree add name=up parent=ether1 queue=w max-limit=24M\n", 60_000, 24e6),
        ("/queue type add kind=pfifo name=w pfifo-limit=40\n"
         "/queue simple add target=a queue=w/x max-limit=8M/90M\n", 60_000, 8e6),
    ],
)  # fmt: skip
def test_routeros_set_and_max_limit(text: str, size: int, rate: float | None) -> None:
    reading = read(text, "mikrotik")
    assert reading.bytes == size
    assert (reading.served and reading.served.rate_bps) == rate


@pytest.mark.parametrize(
    ("platform", "text", "statement"),
    [
        ("ios-xe", "policy-map P\n class class-default\n  queue-limit 9 packets\n"
         "interface Gi1\n hold-queue 4096 out\n", "hold-queue 4096 out"),
        ("ios-xr", "policy-map P\n class class-default\n  queue-limit 9 ms\n"
         "  random-detect dscp 10 percent 20 40\n", "percent 20 40"),
        ("nx-os", NXOS.format("queue-limit 9 kbytes\n    random-detect burst-optimized"),
         "burst-optimized"),
        ("junos", JUNOS.format("temporal 9") + "set class-of-service drop-profiles d fill-level 5",
         "drop-profiles d"),
        ("sros", SROS.format(policy=1, rate="slope-policy gold", mbs="9"), "slope-policy gold"),
        ("linux-tc", "tc qdisc add dev a root pfifo limit 9\nip link set a txqueuelen 10000",
         "txqueuelen 10000"),
        ("linux-tc", "tc qdisc add dev a root choke limit 1000 bandwidth 10mbit", "choke"),
        ("vyos", "set qos policy random-detect R precedence 1 maximum-threshold '9'\n",
         "maximum-threshold"),
        ("mikrotik", "/queue type add kind=sfq name=s\n", "kind=sfq"),
        ("sonic", '{"WRED_PROFILE": {"AZURE": {}}, "BUFFER_PROFILE": {}}', "WRED_PROFILE"),
        ("openconfig", '{"openconfig-qos:qos": {"max-queue-depth-packets": 9}}',
         "max-queue-depth-packets"),
    ],
)  # fmt: skip
def test_what_touches_a_buffer_is_read_or_listed(platform: str, text: str, statement: str) -> None:
    found = lint(text, PORT, platform=platform)
    assert any(statement in each.written for each in found.unread)
    assert "not understood, though it may touch a buffer" in found.text
    assert found.to_dict()["not_understood"]


def test_both_times_stand_in_the_report() -> None:
    text = "tc qdisc add dev eth0 root tbf rate 100mbit burst 32kbit latency 400ms"
    document = lint(text, PORT).to_dict()["queues"][0]
    assert document["seconds"] == pytest.approx(0.4, rel=1e-4) and document["rate_bps"] == 1e8
    assert document["port_seconds"] == pytest.approx(0.003966, rel=1e-3)
    assert "400 ms at 100 Mbit/s (tbf's own rate), 3.966 ms at the port's 10 Gbit/s" in (
        lint(text, PORT).text
    )


def test_a_text_of_show_commands_without_devices_is_one_tree() -> None:
    text = (
        "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_qlen 1000\n"
        "qdisc fq_codel 10: dev eth0 parent 1:30 limit 1000p flows 1024 target 5ms\n"
        "class htb 1:1 root rate 95Mbit ceil 95Mbit burst 1600b cburst 1600b\n"
        "class htb 1:30 parent 1:1 leaf 10: prio 0 rate 20Mbit ceil 90Mbit burst 1600b\n"
    )  # fmt: skip
    assert drains(text) == (1_500_000, pytest.approx(1000 * 8 * 1.5e6 / 90e6))


def test_junos_exact_may_stand_alone() -> None:
    text = "schedulers {\n bulk {\n  buffer-size { temporal 20k; exact; }\n }\n}\n"
    reading = read(text, "junos")
    assert reading.bytes == 25_000_000 and "may not borrow" in said(reading, "note")
