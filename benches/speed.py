"""Speed: packets a CPU-second on one core, memory, and the wall time of a whole command.

Each cell runs in a process of its own. The median of the repeats is given, and the best beside it:
what else the machine does can only make a run slower.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import many_links
import sweep_cost

import forebay

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
SCENARIO = SCENARIOS / "oc3-gsr.toml"
FOREBAY = Path(sys.executable).with_name("forebay")
# As the command does: NumPy's threads spin for a while after their import, and no run needs them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@dataclass(frozen=True)
class Cell:
    """One scenario, as overrides of a shipped one, and the rate it must reach; 0: none is asked."""

    name: str
    overrides: tuple[str, ...]
    target: float
    repeats: int = 5
    classes: int = 0
    """Instead of the shipped scenario, an OC3 that so many classes of Linux flows share."""
    scenario: str = "oc3-gsr"
    """The shipped scenario."""


def oc3(flows: int, packets: int, sender: str) -> tuple[str, ...]:
    return (
        f"traffic.0.flows={flows}",
        f"queue.size={packets} packets",
        f"traffic.0.sender={sender}",
        "traffic.0.initial_window=10",
    )


def faster(rate: str, flows: int, packets: int, warmup: str, duration: str) -> tuple[str, ...]:
    start = 'traffic.0.start={ uniform = ["0 s", "5 s"] }'
    times = (f"measure.warmup={warmup}", f"measure.duration={duration}")
    access = "traffic.0.access_rate=100 Gbit/s"
    return (*oc3(flows, packets, "ns2"), f"link.rate={rate}", start, access, *times)


CC = "traffic.0.congestion_control="
ON = "traffic.0.offload=on"
CELLS = (
    Cell("OC3, 100 flows, ns2", oc3(100, 128, "ns2"), 15e6),
    Cell("OC3, 400 flows, ns2", oc3(400, 63, "ns2"), 15e6),
    Cell("OC3, 100 flows, linux", oc3(100, 128, "linux"), 10e6),
    Cell("OC3, 400 flows, linux", oc3(400, 63, "linux"), 10e6),
    Cell("OC3, 100, linux, offload", (*oc3(100, 128, "linux"), ON), 10e6),
    Cell("OC3, 100 flows, bbr", (*oc3(100, 128, "linux"), CC + "bbr"), 15e6),
    Cell("OC3, 100, bbr, offload", (*oc3(100, 128, "linux"), CC + "bbr", ON), 15e6),
    Cell("OC3, 100 flows, bbr3", (*oc3(100, 128, "linux"), CC + "bbr3"), 15e6),
    Cell("OC3, cubic and bbr3", (*oc3(100, 128, "linux"), CC + "{cubic=0.6, bbr3=0.4}"), 15e6),
    Cell("OC3, fq_codel", (*oc3(100, 128, "linux"), "queue.discipline=fq_codel"), 15e6),
    Cell("OC3, 64 classes", (), 10e6, classes=64),
    Cell("short flows, ns2", (), 0, scenario="short-flows"),
    Cell("short flows, linux", ("traffic.0.sender=linux",), 0, scenario="short-flows"),
    Cell("2.5 Gbit/s, 10,000", faster("2.5 Gbit/s", 10_000, 207, "5 s", "10 s"), 6e6),
    Cell("10 Gbit/s, 50,000", faster("10 Gbit/s", 50_000, 833, "10 s", "50 s"), 5e6, repeats=3),
)


def shared(classes: int) -> forebay.Scenario:
    """An OC3 that as many classes share as there are in 128 flows."""
    given = {"links": 1, "least": 1, "most": 1, "classes": classes, "flows": 128}
    times = {"mbps": 155, "buffer": 128, "warmup_ms": 20_000, "duration_ms": 40_000}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.toml"
        many_links.write(many_links.GIVEN | given | times, path)
        return forebay.load(path)


def measure(shipped: str, overrides: tuple[str, ...], classes: int) -> dict[str, float]:
    """Simulate once, in this process."""
    brief = forebay.load(SCENARIO, ("measure.warmup=0 s", "measure.duration=1 s"))
    forebay.run(brief, jobs=1)  # what is imported on the first run is no part of a run
    path = SCENARIOS / f"{shipped}.toml"
    scenario = shared(classes) if classes else forebay.load(path, overrides)
    gc.collect()  # nor is what the imports left behind
    started = time.process_time()
    outcome = forebay.run(scenario, jobs=1)
    cpu = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"packets": outcome.provenance.packets or 0, "cpu_s": cpu, "peak_bytes": peak}


def measure_apart(cell: Cell) -> list[dict[str, float]]:
    """Simulate in fresh processes, one after the other."""
    given = json.dumps([cell.scenario, cell.overrides, cell.classes])
    command = [sys.executable, __file__, "--one", given]
    runs = (subprocess.run(command, check=True, capture_output=True) for _ in range(cell.repeats))
    return [json.loads(run.stdout) for run in runs]


def print_cell(cell: Cell) -> None:
    runs = measure_apart(cell)
    rates = [run["packets"] / run["cpu_s"] for run in runs]
    cpu = median(run["cpu_s"] for run in runs)
    peak = max(run["peak_bytes"] for run in runs)
    middle, best = median(rates), max(rates)
    print(
        f"{cell.name:24} {middle / 1e6:6.2f} {best / 1e6:6.2f} {cell.target / 1e6:7.0f}"
        f" {cpu:8.2f} {1e9 / middle:7.0f} {peak / 1e6:7.0f}",
        flush=True,
    )


def wall_seconds(*arguments: str, repeats: int = 5) -> float:
    """Best wall time of a whole ``forebay`` process, its start included."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run([FOREBAY, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print each figure beside its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", help="a cell's scenario, overrides and classes as JSON")
    given = parser.parse_args()
    if given.one:
        shipped, overrides, classes = json.loads(given.one)
        print(json.dumps(measure(shipped, tuple(overrides), classes)))
        return
    print("                         M packets/CPU-s          CPU     ns a     peak")
    print("simulation, one core     median   best  target       s  packet       MB")
    for cell in CELLS:
        print_cell(cell)
    short = SCENARIOS / "short-flows.toml"
    print(f"\nrun short-flows.toml     {wall_seconds('run', str(short), repeats=3):6.2f} s")
    print("\na network of 1000 links (target: 5 M hop-packets/s)", flush=True)
    subprocess.run([sys.executable, many_links.__file__, "links=1000", "classes=1000"], check=True)
    print(flush=True)
    sweep_cost.main(500)
    law = wall_seconds("size", str(SCENARIO), "--engine", "theory")
    print(f"\nsize --engine theory     {law:6.2f} s   (target: under 0.7)")
    size = wall_seconds("size", str(SCENARIO), repeats=3)
    print(f"size --engine simulation {size:6.2f} s   (demo as a whole: under 30)")


if __name__ == "__main__":
    main()
