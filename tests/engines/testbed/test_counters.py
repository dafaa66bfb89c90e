"""Independent counters next to the router: their arithmetic, refusals, and one real run."""

import json
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from forebay.engines import EngineUnavailable, get
from forebay.engines.testbed import counters, namespaces, registry
from forebay.engines.testbed.counters import Counted, Look, WindowClock, agreement, daemon, find
from forebay.engines.testbed.errors import TestbedError
from forebay.engines.testbed.registry import Owner


def datagram(sequence, *flows):
    """NetFlow version 5 (Cisco): a header of 24 octets, records of 48."""
    header = struct.pack("!HHIIIIBBH", 5, len(flows), 1000, 1_700_000_000, 0, sequence, 0, 0, 0)
    return header + b"".join(record(*flow) for flow in flows)


def record(port, packets, octets, first_ms=100, last_ms=900):
    addresses = struct.pack("!4s4s4sHH", b"\x0a\x40\0\0", b"\x0a\x80\0\0", bytes(4), 1, 0)
    counts = struct.pack("!IIII", packets, octets, first_ms, last_ms)
    return addresses + counts + struct.pack("!HHBBBBHHBBH", port, 80, 0, 16, 6, 0, 0, 0, 0, 0, 0)


def test_flows_add_up_and_one_exported_in_two_parts_is_one():
    exported = [
        datagram(0, (1000, 10, 15_000, 40, 900), (1001, 5, 200, 25, 80)),
        datagram(2, (1000, 1, 1_500, 950, 1_525)),
    ]
    assert counters.total(exported, 2.0) == Counted(16_700, 16, 1.5, flows=2)
    assert counters.total([], 2.0) == Counted(0, 0, 2.0, flows=0)
    with pytest.raises(TestbedError, match="NetFlow datagrams were lost"):
        counters.total([datagram(0, (1, 1, 40)), datagram(2, (2, 1, 40))], 1.0)


def test_a_counter_gains_from_the_first_look_at_a_window_to_the_last():
    assert counters.times(3.0, 1.0) == [0, 1, 2, 3]
    assert counters.times(2.5, 1.0) == [0, 1, 2, 2.5]
    assert counters.times(0.4, 1.0) == [0, 0.4]
    looks = [Look(100.0, 5_000, 10), Look(101.0, 0, 0), Look(102.5, 8_000, 14)]
    assert counters.gained(looks) == Counted(3_000, 4, 2.5)
    with pytest.raises(TestbedError, match="before SNMP could be read twice"):
        counters.gained(looks[:1])


def test_counts_are_compared_as_rates():
    told = agreement(
        Counted(1_000_000, 1_000, 8.0, flows=4),
        {"snmp": Counted(1_010_000, 1_000, 8.08), "netflow": Counted(990_000, 995, 8.0, flows=4)},
        rate_bps=1e6,
    )
    assert told["router"] == {
        "octets": 1_000_000, "packets": 1_000, "span_s": 8.0, "flows": 4, "utilization": 1.0,
    }  # fmt: skip
    assert told["snmp"]["utilization"] == pytest.approx(1.0)
    assert told["snmp"]["octets_off_percent"] == pytest.approx(0.0, abs=1e-9)
    assert told["snmp"]["packets_off_percent"] == pytest.approx(-100 * (1 - 8 / 8.08))
    assert told["netflow"]["octets_off_percent"] == pytest.approx(-1.0)
    assert told["netflow"]["packets_off_percent"] == pytest.approx(-0.5)
    # Without one link before the device there is no utilization.
    told = agreement(Counted(0, 0, 1.0), {"snmp": Counted(0, 0, 1.0)}, rate_bps=None)
    assert told["router"]["utilization"] is None and told["snmp"]["octets_off_percent"] is None


def test_no_moment_comes_once_the_run_is_over():
    clock = WindowClock(0.0, 60.0)
    clock.begin(time.monotonic())
    assert clock.reached(0.0)
    clock.end()
    began = time.monotonic()
    assert not clock.reached(60.0) and time.monotonic() < began + 50


@pytest.mark.parametrize("name", ["snmp", "netflow"])
def test_a_program_that_is_missing_is_missed_for_its_own_reading_alone(fake, monkeypatch, name):
    program = {"snmp": "snmpd", "netflow": "softflowd"}[name]
    there = lambda asked: None if asked == program else "/bin/true"  # noqa: E731
    monkeypatch.setattr(counters, "find", there)
    engine: Any = get("testbed")
    with pytest.raises(EngineUnavailable, match=f"`apt-get install {program}`") as caught:
        engine.count_by(["snmp", "netflow"])
    assert caught.value.exit_status == 3
    engine.count_by([each for each in ("snmp", "netflow") if each != name])


def test_a_program_beside_is_on_record_and_ends_with_its_context(real, monkeypatch, tmp_path):
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    with registry.recording() as kept:
        kept.will_make("forebay-test-beside")
        namespaces.make("forebay-test-beside")
        command = ["sleep", "60"]
        expected = f"{find('sleep')}\x0060\x00".encode()
        with daemon(command, "forebay-test-beside", tmp_path / "log", kept.started):
            (owner,) = registry.RunResources.read(kept.path).children
            until = time.monotonic() + 5
            while cmdline(owner) != expected and time.monotonic() < until:
                time.sleep(0.01)
            assert cmdline(owner) == expected
            inside = Path(f"/proc/{owner.pid}/ns/net").stat().st_ino
            assert inside == namespaces.path_of("forebay-test-beside").stat().st_ino
        assert not owner.alive


def cmdline(owner: Owner) -> bytes:
    return Path(f"/proc/{owner.pid}/cmdline").read_bytes()


@pytest.fixture
def programs(real) -> None:
    for program in (counters.SNMPD, counters.SOFTFLOWD):
        if find(program) is None:
            pytest.skip(f"there is no {program}: `apt-get install {program}`")


def test_snmp_and_netflow_agree_with_the_router(programs, monkeypatch, small, tmp_path):
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    engine: Any = get("testbed")
    engine.count_by(["snmp", "netflow"])
    outcome = engine.run(small.replace({"measure.duration": "6 s"}), [1])
    (run,) = outcome.provenance.model_dump()["runs"]
    told = run["counters"]
    print(json.dumps(told, indent=1))
    for name, percent in [("snmp", 0.5), ("netflow", 1.0)]:
        assert abs(told[name]["octets_off_percent"]) <= percent
        assert abs(told[name]["packets_off_percent"]) <= percent
    link = outcome.links["bottleneck"].utilization.value
    assert told["snmp"]["utilization"] == pytest.approx(link, abs=0.005)
    assert told["netflow"]["flows"] == told["router"]["flows"] == 4
