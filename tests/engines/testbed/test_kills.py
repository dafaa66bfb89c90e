"""Killed at any moment, nothing of ours is left after the next start.

Every other moment is once the run has its record, so that namespaces are being made however busy
the machine is. The rest are once a child runs: the emulator, or with counters the programs that
start before it.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from forebay.engines.testbed.counters import find

# Kills, the latest moment, and who reads beside the router.
FEW, PLAIN = (20, 0.2, ()), (50, 0.2, ())
COUNTED = (20, 0.8, ("snmp", "netflow"))

# One process imports everything, and forks one that plays for each line that it reads.
NURSERY = """
import os, sys
from forebay.engines import get
from forebay.engines.testbed import registry
from forebay.scenario import load
import pyroute2
scenario = load(sys.argv[1])
engine = get("testbed")
engine.count_by(sys.argv[2:])
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        os.setsid()
        engine.run(scenario, [1])
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
registry.remove_leftovers()
"""

LONG = """
link.rate = "5 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "30 s", duration = "30 s" }
traffic = [{ flows = 4 }]
"""


def in_the_machine() -> tuple[list[str], list[str]]:
    """Return the devices and the routes of the namespace that we live in."""
    from pyroute2 import IPRoute

    with IPRoute() as kernel:
        links = [link.get_attr("IFLA_IFNAME") for link in kernel.get_links()]
        routes = [str(route.get_attr("RTA_DST")) for route in kernel.get_routes(family=2)]
    return sorted(links), sorted(routes)


def of_ours(pids: list[int]) -> list[str]:
    """Return every namespace, folder and process that bears a name of one of these owners."""
    names = tuple(f"forebay-{pid}-" for pid in pids)
    places = [Path("/run/netns"), Path(tempfile.gettempdir())]
    found = [
        str(path) for place in places for path in place.glob("forebay-*")
        if path.name.startswith(names)
    ]  # fmt: skip
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if any(name in command for name in names):
            found.append(f"process {process.name}: {command!r}")
    return found


def has_record(run: Path, pid: int, child: bool) -> bool:
    """Return whether there is a record of this owner, and if asked whether it names a child."""
    records = run.glob(f"{pid}-*.json")
    return any(not child or json.loads(path.read_text())["children"] for path in records)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("kills", "latest_s", "counters"),
    [FEW, *(pytest.param(*more, marks=pytest.mark.long) for more in (PLAIN, COUNTED))],
)
def test_nothing_is_left_after_kills_at_random_moments(tmp_path, kills, latest_s, counters):
    for program in ("snmpd", "softflowd") if counters else ():
        if find(program) is None:
            pytest.skip(f"there is no {program}: `apt-get install {program}`")
    scenario = tmp_path / "long.toml"
    scenario.write_text(LONG)
    run = tmp_path / "run"
    environment = {**os.environ, "FOREBAY_RUNTIME_DIR": str(run)}
    before = in_the_machine()
    chance = random.Random(6)
    pids: list[int] = []
    were_there = had_child = 0
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY, str(scenario), *counters],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    with nursery:
        assert nursery.stdout.readline() == "ready\n"
        for kill in range(kills):
            nursery.stdin.write("\n")
            nursery.stdin.flush()
            pids.append(int(nursery.stdout.readline()))
            deadline = time.monotonic() + 20
            while not has_record(run, pids[-1], kill % 2 == 1) and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(chance.uniform(0, latest_s))
            os.kill(pids[-1], signal.SIGKILL)
            assert nursery.stdout.readline() == "gone\n", "it was playing when it was killed"
            were_there += bool(of_ours(pids[-1:]))
            had_child += has_record(run, pids[-1], child=True)
        nursery.stdin.close()
        assert nursery.wait(10) == 0
    assert were_there > kills / 2, "most of the moments were such that something was left"
    assert had_child >= kills / 2, "and at half of them a child ran"
    deadline = time.monotonic() + 5
    while (left := of_ours(pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    assert [path.name for path in run.iterdir()] == ["lock"]
    assert in_the_machine() == before
