"""The kernel takes our congestion controls, sockets use them, and nothing of them stays.

Its windows with our programs are the simulator's: one flow each, the same link.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cases import cases

from forebay.engines.errors import EngineUnavailable
from forebay.engines.simulation import SimulationEngine
from forebay.engines.testbed import TestbedEngine, congestion, machine
from forebay.scenario import CONGESTION_CONTROLS, Duration, loads

OURS = ("scalable", "bic", "cubic-beta-0.8", "cubic-beta-0.7", "compound")


@pytest.fixture
def kernel() -> None:
    if sys.platform != "linux" or not machine.is_root():
        pytest.skip("only root on Linux may register a congestion control")
    try:
        congestion.built()
    except EngineUnavailable as missing:
        pytest.skip(missing.missing)
    if _registered():
        pytest.skip("another run on this machine has them")


def _registered() -> set[str]:
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    return {name for name in known if name.startswith("fb_")}


def _kernel_names(names: tuple[str, ...] = OURS) -> set[str]:
    return {congestion.KERNEL_NAMES[name] for name in names}


def test_names_fit_the_kernel_and_are_not_its_own():
    assert set(congestion.KERNEL_NAMES) <= set(CONGESTION_CONTROLS)
    assert len(set(congestion.KERNEL_NAMES.values())) == len(congestion.KERNEL_NAMES)
    assert all(len(name) <= 15 for name in congestion.KERNEL_NAMES.values())
    fb = {name for name, kernel in congestion.KERNEL_NAMES.items() if kernel.startswith("fb_")}
    assert fb == set(OURS)


def test_what_a_killed_builder_left_goes_with_the_next(tmp_path):
    ended = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    dead, alive = tmp_path / f"{ended.stdout.strip()}-x", tmp_path / f"{os.getpid()}-x"
    built = tmp_path / "66593da689f8392a"
    for folder in (dead, alive, built):
        folder.mkdir()
    congestion._remove_halves(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([alive, built])


def test_one_that_no_kernel_has_is_refused():
    with pytest.raises(EngineUnavailable, match="bbr3") as refused, congestion.ensure(["bbr3"]):
        pass
    assert "compound" in refused.value.hint


def test_without_a_compiler_the_line_says_what_to_install(tmp_path, monkeypatch):
    btf = tmp_path / "vmlinux"
    btf.touch()
    monkeypatch.setattr(congestion, "_BTF", btf)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match="clang is missing") as refused:
        congestion.built()
    assert "apt-get install clang libbpf-dev" in refused.value.hint


def test_the_kernels_own_need_no_loader():
    if sys.platform != "linux":
        pytest.skip("Linux only")
    before = _registered()
    with congestion.ensure(["reno"]):
        assert _registered() == before


_IN_A_NAMESPACE = """
import socket, sys
for name in sys.argv[1:]:
    with socket.socket() as flow:
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        read = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        print(read.rstrip(bytes(1)).decode())
"""


@pytest.mark.usefixtures("kernel")
def test_sockets_of_a_namespace_use_them_and_nothing_stays():
    if shutil.which("unshare") is None:
        pytest.skip("no unshare to make a namespace with")
    names = sorted(_kernel_names())
    with congestion.ensure(OURS):
        assert _registered() == set(names)
        command = ["unshare", "-n", sys.executable, "-c", _IN_A_NAMESPACE, *names]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == names
    assert not _registered()


@pytest.mark.usefixtures("kernel")
def test_a_second_run_is_refused_and_leaves_the_first_alone():
    with congestion.ensure(["bic"]):
        with (
            pytest.raises(EngineUnavailable, match="another run has"),
            congestion.ensure(["scalable", "bic"]),
        ):
            pass
        assert _registered() == _kernel_names(("bic",))


_HOLDER = """
import time
from forebay.engines.testbed import congestion
with congestion.ensure(["compound", "scalable"]):
    print("up", flush=True)
    time.sleep(60)
"""


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_leaves_nothing(end):
    with subprocess.Popen([sys.executable, "-c", _HOLDER], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"up\n"
        assert _registered() == _kernel_names(("compound", "scalable"))
        holder.send_signal(end)
    until = time.monotonic() + 5
    while _registered() and time.monotonic() < until:
        time.sleep(0.005)
    assert not _registered()


ONE_FLOW = """
link.rate = "10 Mbit/s"
queue.size = "8 packets"
measure = { warmup = "3 s", duration = "4 s" }
traffic = [{ flows = 1, rtt = "20 ms", start = "0 s" }]
"""
# Epochs last half a second: 4 s hold several, and their phase does not matter. Reno in the place of
# any but Compound reads a tenth less or lower.
BAND = 0.08
SHORTEST = "scalable"
"""Its curve takes half of the others' time, so it is the one that each change is judged by."""


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("control", cases(OURS, SHORTEST.__eq__))
def test_the_kernels_window_is_the_simulators(control):
    scenario = loads(ONE_FLOW, overrides=[f"traffic.0.congestion_control={control}"])
    means = {}
    for engine in (SimulationEngine(), TestbedEngine()):
        try:
            trace = engine.trace(scenario, step=Duration(0.01), flows=(0,), seed=1)
        except EngineUnavailable as missing:
            pytest.skip(str(missing))
        means[engine.name] = trace.flows[0].cwnd_packets.mean()
    print(control, means)
    assert means["testbed"] == pytest.approx(means["simulation"], rel=BAND), means
