"""Namespaces, devices, routes and switches of a real kernel; they are gone afterwards."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

import forebay
from forebay import measure
from forebay.engines.testbed import namespaces, one_run, registry
from forebay.engines.testbed.errors import TestbedError
from forebay.engines.testbed.plan import pair_for
from forebay.scenario import dumps, loads
from forebay.scenario.queue import Discipline
from forebay.workload import draw

pytestmark = pytest.mark.usefixtures("real", "own_records")


def read(name, switch):
    path = Path("/proc/sys/net") / switch
    return namespaces.inside(name, lambda: " ".join(path.read_text().split()))


def test_both_sides_stand_as_asked_and_vanish(small):
    scenario = small.replace({
        "traffic.0.initial_window": 3, "traffic.0.min_rto": "300 ms", "traffic.0.sack": False,
        "traffic.0.delayed_ack": False,
    })  # fmt: skip
    outside = Path("/proc/sys/net/ipv4/tcp_sack").read_text()
    with registry.recording() as record, pair_for(scenario, draw(scenario, 1), record) as pair:
        sides = [pair.left.namespace, pair.right.namespace]
        assert sides[0].startswith(f"forebay-{os.getpid()}-") and sides[0].endswith("-send")
        assert all(namespaces.path_of(side).exists() for side in sides)
        assert pair.sysctls["net.ipv4.tcp_sack"] == "0"
        for side in sides:
            assert read(side, "ipv4/tcp_slow_start_after_idle") == "0"
            assert read(side, "ipv4/tcp_rmem") == "4096 1048576 33554432"
        assert Path("/proc/sys/net/ipv4/tcp_sack").read_text() == outside, "not the machine's"
    assert not any(namespaces.path_of(side).exists() for side in sides)


BOTH_WAYS = """
link.rate = "10 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "100 ms", duration = "900 ms" }
traffic = [
    { flows = 2, rtt = "20 ms", start = "0 s" },
    { flows = 2, rtt = "20 ms", start = "0 s", direction = "reverse" },
]
"""


CLASSES = [
    {"name": "first", "priority": 0, "size": "20 packets", "discipline": "red"},
    {"name": "bytes", "default": True, "discipline": "bfifo"},
    {"name": "packets", "weight": 2.0, "share": 0.5},
]


@pytest.mark.parametrize("discipline", sorted(get_args(Discipline)))
def test_every_queue_is_made_as_asked(small, discipline):
    """`play` compares what the router has made with the scenario, and raises where it differs."""
    own = {"queue.classes": CLASSES} if discipline == "classes" else {"queue.transmit_ring": 2}
    short = {"measure.warmup": "100 ms", "measure.duration": "400 ms"}
    scenario = small.replace({"queue.discipline": discipline, **own, **short})
    assert one_run.run_once(scenario, 1).gate["write_errors"] == 0


def test_a_capture_has_an_interface_a_link(small, tmp_path):
    if shutil.which("tshark") is None:
        pytest.skip("there is no tshark")
    both = loads(BOTH_WAYS)
    path = tmp_path / "links.pcapng"
    played = one_run.run_once(both, 1, capture=path)
    fields = ("frame.interface_name", "ip.len", "frame.time_epoch")
    command = ["tshark", "-r", str(path), "-T", "fields", *(f"-e{field}" for field in fields)]
    read = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in read.stdout.splitlines()]
    assert {name for name, _, _ in rows} == {"bottleneck", "reverse"}
    for place, link in enumerate(("bottleneck", "reverse")):
        own = [(float(at), int(octets)) for name, octets, at in rows if name == link]
        assert own == sorted(own, key=lambda row: row[0])
        sent = played.raw["links"][place]["sent_bytes"].sum()
        assert 0 < sum(octets for _, octets in own) == pytest.approx(sent, abs=3000)


def test_a_capture_of_the_window_tells_what_the_router_counted(small, tmp_path):
    path = tmp_path / "link.pcapng"
    outcome = forebay.run(small, "testbed", capture=path)
    rate = str(small.link.rate)
    told = measure.capture([path], rate=rate, interface="bottleneck").estimates
    link, flows = outcome.links["bottleneck"], outcome.classes[0]
    assert told["load"].value == pytest.approx(link.utilization.value, abs=0.002)
    assert told["rtt_s"]["mean"]["value"] == pytest.approx(flows.rtt_s.mean.value, rel=0.1)
    with path.open("rb") as file:
        assert b"forebay: the measured window, " in file.read(200)


def test_every_address_of_the_side_is_local_without_being_configured(small):
    with registry.recording() as record, pair_for(small, draw(small, 1), record) as pair:

        def bind():
            with socket.socket() as one:
                one.bind(("10.64.200.7", 0))
                return one.getsockname()[0]

        assert namespaces.inside(pair.left.namespace, bind) == "10.64.200.7"
        with pytest.raises(OSError, match="Cannot assign"):
            namespaces.inside(pair.right.namespace, bind)


def test_a_name_that_is_taken_is_one_line(small):
    with registry.recording() as record:
        record.will_make("forebay-test-taken")
        namespaces.make("forebay-test-taken")
        with pytest.raises(TestbedError, match=r"making network namespace .*File exists"):
            namespaces.make("forebay-test-taken")


def test_ctrl_c_cleans_up(small, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(dumps(small.replace({"measure.duration": "60 s"})))
    made = subprocess.Popen(
        [str(Path(sys.executable).with_name("forebay")), "run", str(path), "--engine", "testbed"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    names = f"forebay-{made.pid}-*"
    until = time.monotonic() + 20
    while len(list(Path("/run/netns").glob(names))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.7)
    made.send_signal(signal.SIGINT)
    _, err = made.communicate(timeout=30)
    assert made.returncode == 130 and err.count("\n") == 1
    assert not list(Path("/run/netns").glob(names))
