"""Speed on the shipped OC3 scenario: packets a CPU-second, and the wall time of a law's answer.

The best of several runs is given: what else the machine does can only make a run slower.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import forebay

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "oc3-gsr.toml"
FOREBAY = Path(sys.executable).with_name("forebay")
REPEATS = 5


def packets_per_cpu_second() -> float:
    """Bottleneck packets of one replication over the CPU time of everything, one thread."""
    scenario = forebay.load(SCENARIO)
    rates = []
    for _ in range(REPEATS):
        started = time.process_time()
        outcome = forebay.run(scenario, jobs=1)
        rates.append((outcome.provenance.packets or 0) / (time.process_time() - started))
    return max(rates)


def wall_seconds(*arguments: str) -> float:
    """Wall time of a whole ``forebay`` process, its start included."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([FOREBAY, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print each figure beside its target."""
    rate = packets_per_cpu_second() / 1e6
    print(f"simulation, one core     {rate:8.2f} M packets/CPU-s   (target: at least 4)")
    law = wall_seconds("size", str(SCENARIO), "--engine", "theory")
    print(f"size --engine theory     {law:8.2f} s                 (target: under 0.7)")
    size = wall_seconds("size", str(SCENARIO))
    print(f"size --engine simulation {size:8.2f} s                 (demo as a whole: under 30)")


if __name__ == "__main__":
    main()
