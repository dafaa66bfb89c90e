"""tc: the emitted lines run in a network namespace of our own."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from tests.platforms.reading import GIGABIT, TEN_GBIT_S, one, wanted

from forebay.platforms import Port, emit, lint
from forebay.scenario import FRAMINGS

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
def test_the_kernel_has_what_was_emitted(inside, form, packets):
    made = emit(wanted(packets, TEN_GBIT_S), TEN_GBIT_S, "linux-tc", form=form, interface="q0")
    (line,) = made.lines
    done = inside(*line.split())
    assert done.returncode == 0, done.stderr
    (qdisc,) = json.loads(inside("tc", "-j", "qdisc", "show", "dev", "q0").stdout)
    words = line.split()
    assert [qdisc["kind"], qdisc["options"]["limit"]] == [words[6], int(words[8])]
    shown = lint(inside("tc", "qdisc", "show", "dev", "q0").stdout, TEN_GBIT_S)
    assert shown.platform == "linux-tc"
    assert shown.readings[0].bytes == pytest.approx(packets * 1500, rel=1e-3)


@pytest.mark.parametrize(
    ("framing", "line", "rate"),
    [("atm", 1749, 10_000_000), ("ethernet", 1538, 10_000_000), ("ptm", 1530, 9_845_560)],
)
def test_the_kernel_takes_the_framing_of_a_line(inside, framing, line, rate):
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


def test_the_kernel_takes_the_shaper_and_its_child(inside):
    port = Port(2e8, line_bps=1e9, burst_bytes=250_000)
    made = emit(wanted(333, port), port, "linux-tc", interface="q0")
    for line in made.lines:
        done = inside(*line.split())
        assert done.returncode == 0, done.stderr
    shown = lint(inside("tc", "qdisc", "show", "dev", "q0").stdout, Port(1e9))
    assert inside("tc", "qdisc", "del", "dev", "q0", "root").returncode == 0
    (reading,) = shown.readings
    assert reading.bytes == pytest.approx(333 * 1500, rel=2e-3)
    assert reading.served.rate_bps == 2e8


def test_bfifo_without_limit_is_what_the_kernel_takes(inside):
    done = inside("tc", "qdisc", "replace", "dev", "q0", "root", "bfifo")
    assert done.returncode == 0, done.stderr
    (qdisc,) = json.loads(inside("tc", "-j", "qdisc", "show", "dev", "q0").stdout)
    reading = one("tc qdisc replace dev q0 root bfifo", GIGABIT)
    assert qdisc["options"]["limit"] == 1_514_000  # txqueuelen 1000, 1500 + 14 B
    assert reading.packets == 1000
