"""A queue's time is counted at the rate that the same text gives it, and at the port's."""

from __future__ import annotations

import pytest
from tests.platforms.reading import TEN_GBIT_S as PORT
from tests.platforms.reading import drains, read, said

from forebay.platforms import lint

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
        (MD.format(mbs=600_000, pir="48000\ncir 9000"), 600_000, 100.0),
        (MD.format(mbs=600_000, pir="48000").replace("pir", "cir 9000\npir"), 600_000, 100.0),
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
         "drop-probability 7 weight 0", 3_000_000, None),
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
    assert "thresholds that this text does not give" in said(read(NXOS.format("random-detect")))


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


def test_junos_exact_may_stand_alone() -> None:
    text = "schedulers {\n bulk {\n  buffer-size { temporal 20k; exact; }\n }\n}\n"
    reading = read(text, "junos")
    assert reading.bytes == 25_000_000 and "may not borrow" in said(reading, "note")
