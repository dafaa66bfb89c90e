"""Junos, SR OS, SONiC, OpenConfig, VyOS, MikroTik: units, sums and traps."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from tests.platforms.reading import one, said, wanted

from forebay.platforms import PlatformError, Port, emit, lint
from forebay.platforms.data_models import share

JUNOS = "set class-of-service schedulers BE buffer-size "


def test_junos_temporal_is_microseconds(gigabit: Port) -> None:
    assert one(JUNOS + "temporal 5000", gigabit).bytes == 625_000
    curly = "class-of-service {\n schedulers {\n  BE {\n   buffer-size { temporal 5k; }\n }}}"
    assert one(curly.replace("5k", "5 k"), gigabit).bytes is None
    reading = one(curly, gigabit)  # k is a thousand of them
    assert (reading.bytes, reading.line, reading.queue) == (625_000, 4, "scheduler BE")


def test_junos_percent_refers_to_the_delay_buffer(gigabit: Port, oc3: Port) -> None:
    fast, slow = one(JUNOS + "percent 10", gigabit), one(JUNOS + "percent 10", oc3)
    assert fast.bytes == 1_250_000  # 10 % of 100 ms
    assert slow.bytes == 968_750  # 10 % of 500 ms: below 1 Gbit/s
    assert "100 ms" in said(fast) and "500 ms" in said(slow)


def test_junos_warns_of_what_hardware_cannot(gigabit: Port) -> None:
    assert "100 ms" in said(one(JUNOS + "temporal 200000", gigabit))
    assert "smallest" in said(one(JUNOS + "temporal 20", gigabit))
    assert "no size of its own" in said(one(JUNOS + "remainder", gigabit))


def test_junos_says_what_is_not_certain(gigabit: Port) -> None:
    doubts = said(one(JUNOS + "temporal 5000", gigabit), "uncertain")
    assert "256 sizes" in doubts and "releases" in doubts


def sap(mbs: str) -> str:
    return f"sap-egress 100 create\n queue 1 create\n  mbs {mbs}\n exit\n"


def test_sros_kilobyte_is_1000_bytes(gigabit: Port) -> None:
    assert one(sap("200 kilobytes"), gigabit).bytes == 200_000
    assert one(sap("193500 bytes"), gigabit).bytes == 193_500
    assert "no unit" in said(one(sap("200"), gigabit))


def test_sros_network_queue_is_percent(gigabit: Port) -> None:
    reading = one("network-queue N create\n queue 1 create\n mbs 5\n", gigabit)
    assert reading.bytes is None and "percent" in said(reading)


@pytest.mark.parametrize(
    ("model", "mbs"),
    # 1500 B + 64 B of header fill 4 chained buffers of 512 B; one of 2304 B holds one packet
    [("7705-512", 129 * 4 * 512), ("7705-2304", 129 * 2304)],
)
def test_sros_7705_counts_buffers(model: str, mbs: int, gigabit: Port) -> None:
    made = emit(wanted(129, gigabit), gigabit, "sros", model=model)
    assert f"        mbs {mbs} bytes" in made.lines
    assert one(sap("193500 bytes"), gigabit, model=model).packets == {
        "7705-512": 94,
        "7705-2304": 83,
    }.get(model)


def sonic(pool: dict[str, str] | None, **profile: str) -> str:
    tables = {"BUFFER_PROFILE": {"p": {"pool": "[BUFFER_POOL|e]", "size": "1518", **profile}}}
    return json.dumps(tables | ({"BUFFER_POOL": {"e": pool}} if pool else {}))


@pytest.mark.parametrize(
    ("dynamic_th", "largest"), [(0, Fraction(1, 2)), (3, Fraction(8, 9)), (-2, Fraction(1, 5))]
)
def test_sonic_alpha_is_a_power_of_two(dynamic_th: int, largest: Fraction, gigabit: Port) -> None:
    assert share(dynamic_th) == largest
    pool = {"type": "egress", "mode": "dynamic", "size": "9000000"}
    reading = one(sonic(pool, dynamic_th=str(dynamic_th)), gigabit)
    assert reading.bytes == 1518 + int(9_000_000 * largest)


def test_sonic_needs_the_pool_and_the_right_mode(gigabit: Port) -> None:
    assert one(sonic(None, dynamic_th="0"), gigabit).bytes is None
    with_pool = Port(1e9, pool_bytes=4_000_000)
    assert one(sonic(None, dynamic_th="0"), with_pool).bytes == 2_001_518
    pool = {"type": "egress", "mode": "dynamic", "size": "9000000"}
    assert "not static" in said(one(sonic(pool, static_th="100000"), gigabit))
    with pytest.raises(PlatformError, match="write pool_bytes too"):
        emit(wanted(10, gigabit), gigabit, "sonic", form="dynamic")


def test_sonic_takes_the_least_alpha_that_is_enough(gigabit: Port) -> None:
    port = Port(1e9, pool_bytes=32_000_000)
    made = emit(wanted(6666, port), port, "sonic", form="dynamic")
    document = json.loads(made.text)  # nothing but JSON to paste
    assert document["BUFFER_PROFILE"]["forebay"]["dynamic_th"] == "-1"


def test_openconfig_leaves_and_units(gigabit: Port) -> None:
    made = emit(wanted(129, gigabit), gigabit, "openconfig", form="time")
    document = json.loads(made.text)
    profiles = document["openconfig-qos:qos"]["buffer-allocation-profiles"]
    config = profiles["buffer-allocation-profile"][0]["queues"]["queue"][0]["config"]
    assert config["dedicated-buffer-temporal"] == "1548"  # uint64: a string (RFC 7951)
    assert config["use-shared-buffer"] is False


def openconfig(**leaves: object) -> str:
    return json.dumps({"openconfig-qos:qos": {"config": {"name": "q", **leaves}}})


def test_openconfig_adds_dedicated_and_shared(gigabit: Port) -> None:
    leaves = {"dedicated-buffer": "1000", "static-shared-buffer-limit": 50_000}
    both = openconfig(**leaves, **{"use-shared-buffer": True})
    assert one(both, gigabit).bytes == 51_000
    assert "not guaranteed" in said(one(both, gigabit))
    assert one(both.replace("true", "false"), gigabit).bytes == 1000


def test_openconfig_scaling_factor_is_an_exponent() -> None:
    # the model's own example: 10 MB free times 2^3
    text = openconfig(**{"dynamic-limit-scaling-factor": 3, "use-shared-buffer": True})
    assert one(text, Port(1e9, pool_bytes=90_000_000)).bytes == 80_000_000
    assert one(text, Port(1e9)).bytes is None


def test_vyos_old_new_and_curly(gigabit: Port) -> None:
    for text in (
        "set qos policy drop-tail N queue-limit '129'",
        "set traffic-policy drop-tail N queue-limit 129",
        'qos {\n policy {\n  drop-tail N {\n   queue-limit "129"\n  }\n }\n}',
    ):
        reading = one(text, gigabit, "vyos")
        assert (reading.packets, reading.bytes) == (129, 193_500)
        assert reading.queue == "drop-tail N"


def test_mikrotik_default_is_ten_packets(gigabit: Port) -> None:
    reading = one("/queue type add kind=bfifo name=x", gigabit)
    assert (reading.bytes, reading.packets) == (15_000, 10)
    assert "ten packets" in said(reading)
    wrapped = "/queue type\nadd kind=bfifo name=x \\\n    bfifo-limit=193500\n"
    assert one(wrapped, gigabit).bytes == 193_500


@pytest.mark.parametrize("name", ["eos", "arista"])
def test_what_is_not_verified_is_refused_with_the_reason(name: str, gigabit: Port) -> None:
    with pytest.raises(PlatformError, match="no public page") as caught:
        emit(wanted(10, gigabit), gigabit, name)
    assert caught.value.exit_status == 2
    with pytest.raises(PlatformError, match="no queue's size was found in this as eos"):
        lint("interface Ethernet1\n tx-queue 3\n", gigabit)
