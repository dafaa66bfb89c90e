"""The additions that need a Rust build, built and run: only by `make long`."""

import shutil
from pathlib import Path

import pytest

from .patches import ROOT, Copy, places_of
from .test_changes import CHANGES

pytestmark = pytest.mark.long
RUN = """
from forebay import run
from forebay.scenario import loads
scenario = loads('''
link.rate = "10 Mbit/s"
queue = {{ size = "20 packets"{queue} }}
traffic = [{{ flows = 4, start = "0 s"{traffic} }}]
measure = {{ warmup = "1 s", duration = "4 s" }}
''')
assert run(scenario, engine="simulation", seeds=1).links["bottleneck"].utilization.value > 0.5
"""
BUILT = {
    "control": ("", ', congestion_control = "gentle"', "gentle"),
    "discipline": (', discipline = "pfifo_reserve"', "", "pfifo_reserve"),
    "option": ("", ", prr = false", "profile"),
}
"""What a scenario has of it in `[queue]` and in `[[traffic]]`, and its tests in Rust."""


@pytest.mark.parametrize("name", BUILT)
def test_it_runs(name: str, tmp_path: Path) -> None:
    queue, traffic, unit_tests = BUILT[name]
    copy = Copy.at(tmp_path)
    copy.apply(places_of(name))
    target = ROOT / "target"
    for command in (
        *CHANGES[name].generates,
        ("cargo", "test", "--locked", "--quiet", "-p", "forebay-sim", "--lib", unit_tests),
        ("cargo", "test", "--locked", "--quiet", "-p", "forebay-sim", "--lib", "conformance"),
        ("cargo", "build", "--locked", "--quiet", "-p", "forebay-python"),
    ):
        done = copy.run(*command, CARGO_TARGET_DIR=str(target))
        assert done.returncode == 0, done.stdout[-3000:]
    (core,) = (copy.root / "src/forebay").glob("_core*.so")
    core.unlink()
    shutil.copy(target / "debug/lib_core.so", core)
    done = copy.run("python", "-c", RUN.format(queue=queue, traffic=traffic))
    assert done.returncode == 0, done.stdout[-3000:]
