"""What does a sweep cost beside the same runs in one process?

    .venv/bin/python benches/sweep_cost.py [RUNS]

CPU seconds of `forebay sweep` with a store, its start, its plan and its workers among them, over
those of one Python process that calls `forebay.run` for each seed. Asked: at most 1.05.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = 25
FOREBAY = Path(sys.executable).with_name("forebay")
_GRID = f"""
base = "oc3-gsr"
seeds = {SEEDS}
[axes]
"traffic.0.flows" = {{ linear = [100, 109], points = 10 }}
"""
_PLAIN = f"""
import forebay
base = forebay.load("oc3-gsr")
for n in range(100, 110):
    cell = base.replace({{"traffic.0.flows": n}})
    rows = [forebay.run(cell, seed=seed, jobs=1).to_row() for seed in range(1, {SEEDS + 1})]
"""


def cpu_s(*command: str) -> float:
    """Return the CPU seconds of a process and of those that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=threads)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(runs: int) -> tuple[float, float, int]:
    """Return CPU seconds of the plain runs and of the sweep, and the number of runs.

    Both are measured in turns, in parts of 250 runs, because the machine's speed changes.
    """
    plain = swept = 0.0
    parts = max(1, runs // (10 * SEEDS))
    with tempfile.TemporaryDirectory() as name:
        grid = Path(name) / "grid.toml"
        grid.write_text(_GRID)
        for part in range(parts):
            plain += cpu_s(sys.executable, "-c", _PLAIN)
            kept = Path(name) / f"{part}.sqlite"
            swept += cpu_s(str(FOREBAY), "sweep", str(grid), "--store", str(kept), "--json")
    return plain, swept, parts * 10 * SEEDS


def main(runs: int) -> None:
    """Print the row of `make bench`."""
    plain, swept, made = measure(runs)
    print(
        f"sweep of {made:,} OC3 runs: {swept:.1f} s of CPU, {swept / plain:.3f} of the same runs "
        f"in one process (1.05), {1e3 * (swept - plain) / made:+.2f} ms a run",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
