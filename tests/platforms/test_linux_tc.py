"""tc: what each limit counts; the emitted lines run in a network namespace of our own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from tests.platforms.reading import one, said, wanted

from forebay.platforms import Port, emit, lint
from forebay.scenario import FRAMINGS
from forebay.scenario.link import Name

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)


@pytest.fixture(scope="module")
def inside() -> Iterator[Run]:
    """Run words inside a fresh namespace with one Ethernet device, q0; remove just that."""
    if os.geteuid() != 0:
        pytest.skip("not root: no network namespace can be made")
    if not (shutil.which("ip") and shutil.which("tc")):
        pytest.skip("iproute2 is not installed")
    name = f"forebay-{uuid4().hex[:10]}"
    made = run("ip", "netns", "add", name)
    if made.returncode:
        pytest.skip(f"no network namespace: {made.stderr.strip()}")
    try:
        _device(name)
        yield lambda *words: run("ip", "netns", "exec", name, *words)
    finally:
        run("ip", "netns", "del", name)


def _device(name: str) -> None:
    for kind in (("type", "dummy"), ("type", "veth", "peer", "name", "q1")):
        made = run("ip", "-n", name, "link", "add", "q0", *kind)
        if made.returncode == 0:
            return
    pytest.skip(f"neither a dummy nor a veth device: {made.stderr.strip()}")


@pytest.mark.parametrize("form", ["bytes", "packets"])
@pytest.mark.parametrize("packets", [1, 129, 99_999])
def test_the_kernel_has_what_was_emitted(
    inside: Run, form: str, packets: int, ten_gigabit: Port
) -> None:
    made = emit(wanted(packets, ten_gigabit), ten_gigabit, "linux-tc", form=form, interface="q0")
    (line,) = made.lines
    done = inside(*line.split())
    assert done.returncode == 0, done.stderr
    (qdisc,) = json.loads(inside("tc", "-j", "qdisc", "show", "dev", "q0").stdout)
    words = line.split()
    assert [qdisc["kind"], qdisc["options"]["limit"]] == [words[6], int(words[8])]
    shown = lint(inside("tc", "qdisc", "show", "dev", "q0").stdout, ten_gigabit)
    assert shown.platform == "linux-tc"
    assert shown.readings[0].bytes == pytest.approx(packets * 1500, rel=1e-3)


@pytest.mark.parametrize(
    ("framing", "line", "rate"),
    [("atm", 1749, 10_000_000), ("ethernet", 1538, 10_000_000), ("ptm", 1530, 9_845_560)],
)
def test_the_kernel_takes_the_framing_of_a_line(
    inside: Run, framing: Name, line: int, rate: int
) -> None:
    """A packet counts as on the line: 40 of them drain in the same time as is asked for."""
    spec = FRAMINGS[framing]
    port = Port(1e7 * 1500 / spec.packet(1500), line_bps=1e8, framing=spec)
    made = emit(wanted(40, port), port, "linux-tc", interface="q0")
    for each in made.lines:
        done = inside(*each.split())
        assert done.returncode == 0, done.stderr
    shown = lint(inside("tc", "-d", "qdisc", "show", "dev", "q0").stdout, Port(1e8))
    assert inside("tc", "qdisc", "del", "dev", "q0", "root").returncode == 0
    (reading,) = shown.readings
    assert f"rate {rate}bit" in made.lines[0] and f"limit {40 * line}" in made.lines[1]
    assert reading.bytes == pytest.approx(60_000, rel=2e-2)  # tc shows whole kB
    assert reading.seconds(Port(1e8)) == pytest.approx(port.seconds(60_000), rel=2e-2)
    exact = lint(made.text, Port(1e8), wanted=made.wanted)
    assert exact.exit_status == 0 and exact.readings[0].bytes == 60_000
    assert exact.readings[0].seconds(port) == pytest.approx(port.seconds(60_000), rel=1e-4)


def test_the_kernel_takes_the_shaper_and_its_child(inside: Run) -> None:
    port = Port(2e8, line_bps=1e9, burst_bytes=250_000)
    made = emit(wanted(333, port), port, "linux-tc", interface="q0")
    for line in made.lines:
        done = inside(*line.split())
        assert done.returncode == 0, done.stderr
    shown = lint(inside("tc", "qdisc", "show", "dev", "q0").stdout, Port(1e9))
    assert inside("tc", "qdisc", "del", "dev", "q0", "root").returncode == 0
    (reading,) = shown.readings
    assert reading.bytes == pytest.approx(333 * 1500, rel=2e-3)
    assert reading.served is not None and reading.served.rate_bps == 2e8


def test_bfifo_without_limit_is_what_the_kernel_takes(inside: Run, gigabit: Port) -> None:
    done = inside("tc", "qdisc", "replace", "dev", "q0", "root", "bfifo")
    assert done.returncode == 0, done.stderr
    (qdisc,) = json.loads(inside("tc", "-j", "qdisc", "show", "dev", "q0").stdout)
    reading = one("tc qdisc replace dev q0 root bfifo", gigabit)
    assert qdisc["options"]["limit"] == 1_514_000  # txqueuelen 1000, 1500 + 14 B
    assert reading.packets == 1000


def test_bfifo_counts_the_ethernet_header(gigabit: Port) -> None:
    made = emit(wanted(129, gigabit), gigabit, "linux-tc")
    assert made.lines == (f"tc qdisc replace dev eth0 root bfifo limit {129 * 1514}",)
    assert one("tc qdisc add dev eth0 root bfifo limit 193500", gigabit).packets == 127
    no_header = Port(1e9, 1500, header_bytes=0)
    assert one("tc qdisc add dev eth0 root bfifo limit 193500", no_header).packets == 129


def test_tc_kilobytes_are_1024(gigabit: Port) -> None:
    reading = one("tc qdisc add dev eth0 root bfifo limit 100kb", Port(1e9, header_bytes=0))
    assert reading.bytes == 102_400
    assert "1024" in said(reading)


def test_pfifo_counts_super_packets(gigabit: Port) -> None:
    reading = one("tc qdisc add dev eth0 root pfifo limit 129", gigabit)
    assert (reading.packets, reading.bytes) == (129, 193_500)
    assert "GSO" in said(reading)


def test_netem_limit_includes_packets_in_flight(gigabit: Port) -> None:
    # 10 ms at 1 Gbit/s of 1514-B frames: 825 fly; 175 of the default 1000 may queue
    reading = one("tc qdisc add dev eth0 root netem delay 10ms", gigabit)
    assert reading.packets == 175
    assert "in flight" in said(reading) and "nobody chose" in said(reading)
    longer = one("tc qdisc add dev eth0 root netem delay 50ms limit 1000", gigabit)
    assert longer.packets == 0 and "overflows" in said(longer)


def test_tbf_latency_is_a_limit(gigabit: Port) -> None:
    text = "tc qdisc add dev eth0 root tbf rate 100mbit burst 15140 latency 10ms"
    assert one(text, gigabit).packets == (125_000 + 15_140) // 1514


def test_shown_and_managed_queues(gigabit: Port) -> None:
    text = "qdisc fq_codel 0: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms\n"
    reading = one(text, gigabit)
    assert reading.packets == 10240 and "last resort" in said(reading)


def test_a_name_that_is_no_name_never_reaches_a_shell(gigabit: Port) -> None:
    with pytest.raises(ValueError, match="no name of an interface"):
        emit(wanted(1, gigabit), gigabit, "linux-tc", interface="eth0; reboot")
