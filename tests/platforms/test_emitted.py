"""What is written for each platform: the lines, what is said beside them, and what is refused.

Several ports of one platform have objects of their own names, and several class queues are read
back by the platform's own reader.
"""

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.platforms.reading import GIGABIT, TEN_GBIT_S, one, said, wanted

from forebay import Scenario, platforms
from forebay.outcome import AqmThresholds
from forebay.platforms import PlatformError, Port, Wanted, emit, get, lint, names, object_names

SHAPED = Port(350e6, line_bps=4e10, burst_bytes=32_000)
POOL = Port(1e9, pool_bytes=32_000_000)
Options = dict[str, Any]

LINES: list[tuple[str, Options, Port, int, str]] = [
    ("ios-xr", {"form": "packets"}, GIGABIT, 129, "  queue-limit 756 packets"),  # 129 x 1500 / 256
    ("ios-xe", {"model": "me3600x"}, GIGABIT, 129, "  queue-limit 968 packets"),
    ("nx-os", {}, TEN_GBIT_S, 1000, "    queue-limit 1500000 bytes"),
    # 1500 B + 64 B of header fill 4 chained buffers of 512 B; one of 2304 B holds one packet
    ("sros", {"model": "7705-512"}, GIGABIT, 129, f"        mbs {129 * 4 * 512} bytes"),
    ("sros", {"model": "7705-2304"}, GIGABIT, 129, f"        mbs {129 * 2304} bytes"),
    ("linux-tc", {}, GIGABIT, 129, f"tc qdisc replace dev eth0 root bfifo limit {129 * 1514}"),
    # the least alpha that is enough
    ("sonic", {"form": "dynamic"}, POOL, 6666, '            "dynamic_th": "-1"'),
    # uint64: a string (RFC 7951)
    ("openconfig", {"form": "time"}, GIGABIT, 129,
     ' ' * 18 + '"dedicated-buffer-temporal": "1548",'),
    ("ios-xr", {"interface": "Bundle-Ether1"}, TEN_GBIT_S, 4668, "  queue-limit 5602 us"),
    ("ios-xe", {}, SHAPED, 217, "  shape average 350000000 256000"),
    ("ios-xr", {}, SHAPED, 217, "  shape average 350000000 bps 32000 bytes"),
    ("junos", {}, SHAPED, 217, "set class-of-service traffic-control-profiles FOREBAY shaping-rate "
     "350000000 burst-size 32000"),
    ("sros", {}, SHAPED, 217, "        burst-limit 32000 byte"),
    ("sros", {"form": "md-cli"}, SHAPED, 217,
     '/configure qos sap-egress "100" queue 1 burst-limit 32000'),
    ("mikrotik", {}, SHAPED, 217, "/queue tree add name=forebay parent=ether1 queue=forebay "
     "max-limit=350000000 bucket-size=0.001"),
]  # fmt: skip


@pytest.mark.parametrize(("platform", "options", "port", "packets", "line"), LINES)
def test_a_line_is_written_and_read_back(platform, options, port, packets, line):
    made = emit(wanted(packets, port), port, platform, **options)
    assert line in made.lines
    plain = Port(port.line, pool_bytes=port.pool_bytes)  # the text alone says that it is shaped
    found = lint(
        made.text, plain, model=options.get("model"), platform=platform, wanted=made.wanted
    )
    assert found.exit_status == 0 and not found.unread and "refused" not in found.text
    served = found.readings[0].served
    assert not port.is_shaped or (served is not None and served.rate_bps == port.rate_bps)


NO_PAGE = "no public page.*only a step of ECN marks"
REFUSED: list[tuple[str, Options, Port, int, str]] = [
    ("ios-xe", {}, GIGABIT, 2_000_001, "more than IOS-XE's 2000000"),
    ("ios-xr", {}, GIGABIT, 700_000, "more than the 1 GB"),
    ("ios-xe", {"form": "bytes"}, GIGABIT, 3_000_000, "B that queue-limit takes"),
    ("nx-os", {}, GIGABIT, 3_000_000, "the largest number that is assumed"),
    ("ios-xr", {"form": "time"}, Port(1e6), 357_914, "4294968000 us is more than the 4294967295"),
    ("ios-xr", {"form": "bytes", "interface": "Bundle-Ether1"}, TEN_GBIT_S, 9,
     "takes only a time on Bundle-Ether1"),
    ("sonic", {"form": "dynamic"}, GIGABIT, 10, "write pool_bytes too"),
    ("sonic", {"form": "dynamic"}, Port(1e9, pool_bytes=64_000_000), 1,
     "gives 249027 B.*times what is wanted; write"),
    ("junos", {"form": "percent"}, GIGABIT, 1, "gives 125000 B.*times what is wanted; write"),
    ("eos", {}, GIGABIT, 10, NO_PAGE),
    ("arista", {}, GIGABIT, 10, NO_PAGE),
    ("linux-tc", {"interface": "eth0; reboot"}, GIGABIT, 1, "no name of an interface"),
    ("ios-xe", {"name": "a b"}, GIGABIT, 9, "is no name that every platform takes"),
]  # fmt: skip


@pytest.mark.parametrize(("platform", "options", "port", "packets", "said"), REFUSED)
def test_what_a_platform_does_not_have_is_refused(platform, options, port, packets, said):
    with pytest.raises(PlatformError, match=said) as caught:
        emit(wanted(packets, port), port, platform, **options)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("platform", names())
def test_a_burst_that_is_not_written_is_said(platform):
    made = emit(wanted(217, SHAPED), SHAPED, platform)
    text = "\n".join(made.lines)
    has = any(size in text for size in ("32000", "256000", "bucket-size"))
    assert ("burst of 32000 B is not written" in "\n".join(made.comments)) != has


def test_a_7705_and_a_large_bucket_of_routeros_have_none():
    comments = emit(wanted(217, SHAPED), SHAPED, "sros", model="7705-512").comments
    assert any("no burst-limit of a 7705" in line for line in comments)
    deep = Port(1e6, line_bps=1e9, burst_bytes=2_000_000)
    comments = emit(wanted(217, deep), deep, "mikrotik").comments
    assert any("bucket-size goes to 10 s" in line for line in comments)


def test_nx_os_says_what_was_not_verified():
    made = emit(wanted(1000, TEN_GBIT_S), TEN_GBIT_S, "nx-os")
    assert "not verified" in made.text and "not verified" in get("nx-os").title


def test_a_table_with_a_bundle_writes_a_time(tmp_path, printed):
    table = tmp_path / "be.csv"
    row = "L,40 Gbit/s,400,20 ms..80 ms,ios-xr,Bundle-Ether1,4\n"
    table.write_text(f"name,rate,n,rtt,platform,interface,members\n{row}")
    out = printed(f"size --ports {table} --engine theory")
    assert "queue-limit 5602 us" in out and "only a time" not in out


def test_names_come_from_the_ports():
    assert object_names(["anything"]) == ["FOREBAY"]
    assert object_names(["r1-up", "r1-down"]) == ["FOREBAY-r1-up", "FOREBAY-r1-down"]
    assert object_names(["über, port", "Über port", "§"]) == [
        "FOREBAY-uber-port", "FOREBAY-Uber-port-2", "FOREBAY-port"
    ]  # fmt: skip


@given(st.lists(st.text(min_size=1), min_size=2, max_size=30, unique=True))
def test_names_are_legal_and_differ(ports):
    found = object_names(ports)
    assert len({name.lower() for name in found}) == len(ports)
    assert all(re.fullmatch(r"FOREBAY-[A-Za-z0-9-]{1,15}", name) for name in found)


@pytest.mark.parametrize("platform", [name for name in names() if name != "linux-tc"])
@pytest.mark.parametrize("shaped", [False, True])
def test_two_ports_share_no_object(platform, shaped):
    """The second must not resize the first on one router; each is read back."""
    port = Port(5e8, line_bps=1e9, burst_bytes=30_000) if shaped else GIGABIT
    made = [
        emit(wanted(size, port), port, platform, interface=f"et{size}", name=name, number=number)
        for size, name, number in ((100, "FOREBAY-a", 100), (300, "FOREBAY-b", 101))
    ]
    for size, each in zip((100, 300), made, strict=True):
        assert lint(each.text, port, platform=platform, wanted=wanted(size, port)).exit_status == 0
    first, second = ("\n".join(each.lines) for each in made)
    assert not re.search(r"forebay(?!-a)", first, re.IGNORECASE)
    assert not re.search(r"forebay(?!-b)", second, re.IGNORECASE)
    if "{" not in first:  # a text of both holds both sizes
        both = lint(f"{first}\n{second}\n", port, platform=platform)
        assert {100, 300} <= {each.packets for each in both.readings}


MARKING = ("nx-os", "sonic", "eos")


def step(k: int, limit: int, port: Port, *, ecn: bool = True) -> Wanted:
    """A sizing's K in bytes, with a guard of so many packets."""
    aqm = AqmThresholds(
        discipline="red", min_bytes=k, max_bytes=k + 1, probability=1.0,
        packet_bytes=port.packet_bytes, limit_packets=limit, ecn=ecn,
        packet_s=8 * port.packet_bytes / port.rate_bps,
    )  # fmt: skip
    return Wanted(limit * port.packet_bytes, limit, f"red with {limit} packets", "a.json", aqm)


@settings(max_examples=examples(60))
@given(
    name=st.sampled_from(MARKING),
    rate=st.sampled_from([1e9, 1e10, 2.5e10, 1e11, 4e11]),
    k=st.integers(1500, 20_000_000),
    limit=st.integers(1, 20_000),
)
def test_lint_reads_back_the_same_k(name, rate, k, limit):
    port = Port(rate)
    made = emit(step(k, limit, port), port, name)
    assert made.given.marks_bytes == k
    assert any("PFC is not modelled" in line for line in made.comments)
    for other, verdict in ((k, "as asked"), (k + 1500, "smaller"), (k - 1, "larger")):
        found = lint(made.text, port, platform=name, wanted=step(other, limit, port))
        (reading,) = found.readings
        assert reading.marks_bytes == k and f"a step K of {k} B" in found.text
        assert found.verdict(reading) == verdict and not found.unread
        assert found.exit_status == int(verdict != "as asked")


def test_a_step_that_drops_is_not_written_as_marks():
    with pytest.raises(PlatformError, match="the queue is red, which cannot be written for eos"):
        emit(step(30_000, 100, TEN_GBIT_S, ecn=False), TEN_GBIT_S, "eos")


def test_marks_of_sonic_that_rise_are_no_step():
    made = json.loads(emit(step(30_000, 100, TEN_GBIT_S), TEN_GBIT_S, "sonic").text)
    made["WRED_PROFILE"]["forebay"]["green_max_threshold"] = "90000"
    rising = one(json.dumps(made, indent=1), TEN_GBIT_S)
    assert rising.marks_bytes is None and "from 30000 to 90000 B" in said(rising, "note")
    made["QUEUE"] = {}
    apart = lint(json.dumps(made, indent=1), TEN_GBIT_S)
    assert [each.marks_bytes or each.bytes for each in apart.readings] == [150_000, None]
    assert "from 30000 to 90000 B" in said(apart.readings[1], "note") and not apart.unread


def of_classes(classes: list[dict[str, Any]], **link: Any) -> Scenario:
    traffic = [
        {"name": each["name"], "flows": 2, "packet": each.pop("packet", "1500 B")}
        for each in classes
    ]
    queues = [{"traffic": [each["name"]], "size": "9 packets"} | each for each in classes]
    queue = {"discipline": "classes", "classes": queues}
    return Scenario.from_dict(
        {"link": {"rate": "1 Gbit/s"} | link, "queue": queue, "traffic": traffic}
    )


BOTH = pytest.mark.parametrize("platform", ["junos", "ios-xe"])


@BOTH
def test_class_queues_are_read_back_as_the_same_sizes(platform):
    draw = random.Random(43)
    for _ in range(50):
        classes = [
            {
                "name": f"c{n}",
                "size": f"{draw.randint(1, 5000)} packets",
                "weight": draw.choice([0.5, 1.0, 2.0, 3.0, 7.5]),
                **({"priority": draw.randint(1, 2)} if draw.random() < 0.3 else {}),
            }
            for n in range(draw.randint(2, 6))
        ]
        made = platforms.emit_classes(of_classes(classes), platform)
        read = lint(made.text, GIGABIT, platform=platform).readings
        found = {each.queue.split()[-1]: each for each in read}
        assert set(found) == {each["name"] for each in classes}
        for limit in made.limits:
            reading = found[limit.queue.name]
            assert abs(reading.bytes - limit.bytes) <= reading.rounding_bytes


@BOTH
def test_class_queues_of_a_shaped_port_are_read_at_its_shapers_rate(platform):
    shaper = {"rate": "100 Mbit/s", "burst": "30 kB"}
    made = platforms.emit_classes(
        of_classes([{"name": "a"}, {"name": "b"}], shaper=shaper), platform
    )
    assert "the shaper's burst of 30000 B is not written" in made.text
    for reading in lint(made.text, GIGABIT, platform=platform).readings:
        assert reading.served.rate_bps == 100e6
        assert abs(reading.bytes - 9 * 1500) <= reading.rounding_bytes
    assert "burst" not in platforms.emit_classes(of_classes([{"name": "a"}]), platform).text


def test_shares_are_whole_and_add_up_to_what_guaranteed_rates_leave():
    scenario = of_classes(
        [
            {"name": "a", "weight": 1.0},
            {"name": "b", "weight": 1000.0},
            {"name": "c", "min_rate": "250 Mbit/s", "max_rate": "300 Mbit/s"},
        ]
    )
    text = platforms.emit_classes(scenario, "junos").text
    for line in ("a transmit-rate percent 1", "b transmit-rate percent 74",
                 "c transmit-rate 250000000", "c shaping-rate 300000000"):  # fmt: skip
        assert f"schedulers {line}\n" in text
    with pytest.raises(PlatformError, match="min_rate of c"):
        platforms.emit_classes(scenario, "ios-xe")


def test_a_default_queue_is_class_default_and_small_packets_are_counted_as_such():
    scenario = of_classes([{"name": "voice", "packet": "200 B", "priority": 3}, {"name": "rest"}])
    text = platforms.emit_classes(scenario, "ios-xe").text
    assert "! voice: 9 packets of 200 B = 1800 B" in text
    assert " class voice\n  priority level 1\n  queue-limit 9 packets\n" in text
    default = {"discipline": "classes", "classes": [{"name": "all", "default": True}]}
    scenario = Scenario.from_dict(scenario.to_dict() | {"queue": default})
    assert " class class-default\n" in platforms.emit_classes(scenario, "ios-xe").text


@pytest.mark.parametrize(
    ("platform", "classes", "said"),
    [
        ("ios-xe", [{"name": f"c{n}", "priority": n} for n in range(3)], "3 strict priorities"),
        ("junos", [{"name": f"c{n}", "priority": n} for n in range(5)], "5 strict priorities"),
        ("junos", [{"name": f"c{n}"} for n in range(9)], "9 class queues, and a port has 8"),
        ("junos", [{"name": "a"}, {"name": "b", "min_rate": "1 Gbit/s"}], "less than 1 %"),
        ("sonic", [{"name": "a"}], "several class queues are not written for sonic"),
    ],
)
def test_class_queues_that_a_platform_cannot_express_are_refused(platform, classes, said):
    with pytest.raises(PlatformError, match=said):
        platforms.emit_classes(of_classes(classes), platform)
