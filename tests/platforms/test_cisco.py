"""queue-limit: 256-byte packets, times at the class's rate, defaults."""

from __future__ import annotations

import pytest
from tests.platforms.reading import one, said, wanted

from forebay.platforms import Port, Wanted, emit, get, lint


def policy(limit: str, *, name: str = "class-default", beside: str = "") -> str:
    return f"policy-map P\n class {name}\n  {beside}\n  {limit}\n !\n end-policy-map\n"


def test_xr_counts_packets_of_256_bytes(gigabit: Port) -> None:
    # IOS XR QoS command reference: "packets are assumed to be 256 bytes in size"
    reading = one(policy("queue-limit 129 packets"), gigabit, "ios-xr")
    assert (reading.bytes, reading.packets) == (129 * 256, 22)
    assert "256 B" in said(reading)
    assert one(policy("queue-limit 129"), gigabit, "ios-xr").bytes == 129 * 256


def test_xr_written_in_packets_still_holds_what_was_asked(gigabit: Port) -> None:
    made = emit(wanted(129, gigabit), gigabit, "ios-xr", form="packets")
    assert "  queue-limit 756 packets" in made.lines  # 129 x 1500 / 256, rounded up


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        ("queue-limit 193500 bytes", 193_500),
        ("queue-limit 10 ms", 1_250_000),
        ("queue-limit 500 us", 62_500),
        ("queue-limit 2 mbytes", 2_000_000),
        ("queue-limit percent 25", 1_250_000),  # a quarter of 40 ms at 1 Gbit/s
    ],
)
def test_xr_units(limit: str, size: int, gigabit: Port) -> None:
    assert one(policy(limit), gigabit, "ios-xr").bytes == size


def test_xr_class_needs_scheduling_beside_it(gigabit: Port) -> None:
    limit = "queue-limit 10 ms"
    assert "bandwidth, shape, priority" in said(one(policy(limit, name="C"), gigabit, "ios-xr"))
    for beside in ("bandwidth percent 50", "priority level 1", "bandwidth remaining ratio 3"):
        reading = one(policy(limit, name="C", beside=beside), gigabit, "ios-xr")
        assert "refused" not in said(reading)


def test_xr_time_counts_at_the_class_rate(gigabit: Port) -> None:
    text = policy("queue-limit 10 ms", name="C", beside="bandwidth percent 30")
    reading = one(text, gigabit, "ios-xr")
    assert reading.bytes == 375_000  # 10 ms x 300 Mbit/s
    assert "300 Mbit/s" in said(reading)


@pytest.mark.parametrize(("model", "ms"), [("asr9000", 100), ("crs", 100), ("ncs5500", 10)])
def test_xr_default_that_nobody_chose(model: str, ms: int, gigabit: Port) -> None:
    reading = one(policy(""), gigabit, "ios-xr", model)
    assert reading.bytes == ms * 125_000
    assert "nobody chose this" in said(reading)


def test_xr_priority_default_is_ten_ms(gigabit: Port) -> None:
    reading = one(policy("", name="V", beside="priority level 1"), gigabit, "ios-xr")
    assert reading.bytes == 1_250_000


def test_xr_bundles_take_time_only(gigabit: Port) -> None:
    bundle = "interface Bundle-Ether1\n service-policy output P\n"
    bytes_on_bundle = one(policy("queue-limit 100000 bytes") + bundle, gigabit)
    assert "bundle" in said(bytes_on_bundle)
    assert "bundle" not in said(one(policy("queue-limit 10 ms") + bundle, gigabit))


def test_a_parent_that_only_shapes_has_no_queue_of_its_own(gigabit: Port) -> None:
    text = (
        "policy-map CHILD\n class class-default\n  queue-limit 10 ms\n end-policy-map\n"
        "policy-map PARENT\n class class-default\n  shape average 500 mbps\n"
        "  service-policy CHILD\n end-policy-map\n"
    )
    assert one(text, gigabit).queue == "policy-map CHILD, class class-default"


def test_xe_counts_real_packets_and_me3600x_200_bytes(gigabit: Port) -> None:
    text = policy("queue-limit 129 packets").replace(" end-policy-map\n", "")
    assert one(text, gigabit, "ios-xe").bytes == 129 * 1500
    me = one(text, gigabit, "ios-xe", "me3600x")
    assert (me.bytes, me.packets) == (25_800, 17)
    made = emit(wanted(129, gigabit), gigabit, "ios-xe", model="me3600x")
    assert "  queue-limit 968 packets" in made.lines


@pytest.mark.parametrize(
    ("rate", "model", "packets"),
    [(1e9, "asr1000", 4166), (1e9, "esp40", 2083), (1e6, "asr1000", 64)],
)
def test_xe_default_is_50_ms_and_at_least_64_packets(rate: float, model: str, packets: int) -> None:
    reading = one(policy(""), Port(rate), "ios-xe", model)
    assert reading.packets == packets


def test_xe_stops_at_two_million_packets(gigabit: Port) -> None:
    with pytest.raises(ValueError, match="2000000"):
        emit(wanted(2_000_001, gigabit), gigabit, "ios-xe")


def test_each_class_is_read(gigabit: Port) -> None:
    text = policy("queue-limit 1 ms", name="A", beside="bandwidth percent 10").replace(
        " end-policy-map\n", " class class-default\n  queue-limit 2 ms\n end-policy-map\n"
    )
    found = lint(text, gigabit, platform="ios-xr")
    assert [each.line for each in found.readings] == [4, 7]


WRED = """
policy-map P
 class class-default
  queue-limit 4000 packets
  random-detect{thresholds}
"""


@pytest.mark.parametrize("platform", ["ios-xe", "ios-xr"])
def test_random_detect_is_no_drop_tail_queue(platform: str) -> None:
    port = Port(1e10)
    asked = wanted(4000, port)
    if platform == "ios-xr":
        asked = Wanted(4000 * 256, 682, "4000 of 256 B")
    plain = WRED.replace("  random-detect{thresholds}\n", "")
    assert lint(plain, port, platform=platform, wanted=asked).exit_status == 0
    bare = lint(WRED.format(thresholds=" dscp-based"), port, platform=platform, wanted=asked)
    assert bare.exit_status == 1 and bare.readings[0].bytes is None
    assert "random-detect drops before the limit" in bare.text
    packet = 1500 if platform == "ios-xe" else 256
    every = one(WRED.format(thresholds=" 100 packets 200 packets"), port, platform)
    assert every.bytes == 200 * packet
    early = WRED.format(thresholds=" dscp af11 100 packets 200 packets")
    reading = one(early, port, platform)
    assert reading.bytes == 4000 * packet, "other packets are not dropped there"
    assert f"dscp af11 alone: dropped from {100 * packet} B on" in said(reading)
    assert lint(early, port, platform=platform, wanted=asked).exit_status == 1


def test_nx_os_is_written_with_what_was_not_verified(ten_gigabit: Port) -> None:
    made = emit(wanted(1000, ten_gigabit), ten_gigabit, "nx-os")
    assert "    queue-limit 1500000 bytes" in made.lines
    assert "not verified" in made.text and "not verified" in get("nx-os").title
    pool = Port(1e10, pool_bytes=40_000_000)
    text = made.text.replace("1500000 bytes", "dynamic 8")  # alpha 2: 2/3 of what is free
    assert one(text, pool, "nx-os").bytes == 26_666_666
    assert one(text, ten_gigabit, "nx-os").bytes is None
