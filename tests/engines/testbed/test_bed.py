"""Namespaces, devices, routes and switches of a real kernel; they are gone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forebay.engines.testbed import namespaces, playing, registry
from forebay.engines.testbed.bed import bed_for
from forebay.engines.testbed.errors import TestbedError
from forebay.scenario import dumps, loads
from forebay.workload import draw

pytestmark = pytest.mark.usefixtures("real")


@pytest.fixture(autouse=True)
def own_records(monkeypatch, tmp_path):
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))


def asking(small, *changes):
    return loads(dumps(small), overrides=changes)


def read(name, switch):
    path = Path("/proc/sys/net") / switch
    return namespaces.inside(name, lambda: " ".join(path.read_text().split()))


def test_both_sides_stand_as_asked_and_vanish(small):
    scenario = asking(
        small, "traffic.0.initial_window=3", "traffic.0.min_rto=300 ms",
        "traffic.0.sack=false", "traffic.0.delayed_ack=false",
    )  # fmt: skip
    outside = Path("/proc/sys/net/ipv4/tcp_sack").read_text()
    with registry.recording() as record, bed_for(scenario, draw(scenario, 1), record) as bed:
        sides = [bed.left.namespace, bed.right.namespace]
        assert sides[0].startswith(f"forebay-{os.getpid()}-") and sides[0].endswith("-send")
        assert all(namespaces.path_of(side).exists() for side in sides)
        assert bed.sysctls["net.ipv4.tcp_sack"] == "0"
        for side in sides:
            assert read(side, "ipv4/tcp_slow_start_after_idle") == "0"
            assert read(side, "ipv4/tcp_rmem") == "4096 1048576 33554432"
        assert Path("/proc/sys/net/ipv4/tcp_sack").read_text() == outside, "not the machine's"
    assert not any(namespaces.path_of(side).exists() for side in sides)


QUEUES = ("drop-tail", "bfifo", "red", "pie", "codel", "fq_codel")


@pytest.mark.parametrize("discipline", QUEUES)
def test_every_queue_is_made_as_asked(small, discipline):
    """`play` compares what the router has made with the scenario, and raises where it differs."""
    scenario = asking(
        small, f"queue.discipline={discipline}", "queue.transmit_ring=2",
        "measure.warmup=100 ms", "measure.duration=400 ms",
    )  # fmt: skip
    assert playing.play(scenario, 1).gate["write_errors"] == 0


def test_every_address_of_the_side_is_local_without_being_configured(small):
    import socket

    with registry.recording() as record, bed_for(small, draw(small, 1), record) as bed:

        def bind():
            with socket.socket() as one:
                one.bind(("10.64.200.7", 0))
                return one.getsockname()[0]

        assert namespaces.inside(bed.left.namespace, bind) == "10.64.200.7"
        with pytest.raises(OSError, match="Cannot assign"):
            namespaces.inside(bed.right.namespace, bind)


def test_a_name_that_is_taken_is_one_line(small):
    with registry.recording() as record:
        record.will_make("forebay-test-taken")
        namespaces.make("forebay-test-taken")
        with pytest.raises(TestbedError, match=r"making network namespace .*File exists"):
            namespaces.make("forebay-test-taken")


def test_ctrl_c_cleans_up_within_a_second(small, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(dumps(asking(small, "measure.duration=60 s")))
    made = subprocess.Popen(
        [str(Path(sys.executable).with_name("forebay")), "run", str(path), "--engine", "testbed"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    names = f"forebay-{made.pid}-*"
    until = time.monotonic() + 20
    while len(list(Path("/run/netns").glob(names))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.7)
    asked = time.monotonic()
    made.send_signal(signal.SIGINT)
    while list(Path("/run/netns").glob(names)) and time.monotonic() < asked + 5:
        time.sleep(0.005)
    assert time.monotonic() - asked < 1.0
    _, err = made.communicate(timeout=10)
    assert made.returncode == 130 and err.count("\n") == 1
    assert not list(Path("/run/netns").glob(names))
