"""What does a run cost beside its simulation?

    .venv/bin/python benches/run_overhead.py [RUNS]

CPU of the whole call less that of the core's `simulate`, for many seeds of one scenario and for
many cells with a seed each, of a short run. Asked: at most 1 ms a run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import forebay
from forebay import _core

SHORT = {
    "link.rate": "10 Mbit/s", "traffic.0.flows": 10, "traffic.0.start": "0 s",
    "traffic.0.rtt": {"uniform": ["20 ms", "30 ms"]}, "measure.warmup": "4 s",
    "measure.duration": "4 s",
}  # fmt: skip


class Simulated:
    """The core's function, with the CPU seconds that its calls took."""

    def __init__(self) -> None:
        self.simulate, self.spent_s = _core.simulate, 0.0

    def __call__(self, *runs: Any, **how: Any) -> Any:
        """Simulate on this thread, which the core does not leave with one job."""
        begun = time.thread_time()
        made = self.simulate(*runs, **how)
        self.spent_s += time.thread_time() - begun
        return made


def beside_ms(call: Callable[[Path], object], runs: int) -> float:
    """Return the milliseconds of a run beside its simulation."""
    seen = Simulated()
    with tempfile.TemporaryDirectory() as name, patch.object(_core, "simulate", seen):
        begun = time.process_time()
        call(Path(name) / "runs.sqlite")
        spent = time.process_time() - begun
    assert 0.0 < seen.spent_s < spent
    return 1e3 * (spent - seen.spent_s) / runs


def main(runs: int) -> None:
    """Print the rows of `make bench`."""
    base = forebay.load("oc3-gsr").replace(SHORT)
    sizes = {"queue.size": [f"{10 + at} packets" for at in range(runs)]}
    calls: dict[str, Callable[[Path], object]] = {
        "a sweep's seeds of one scenario": lambda store: forebay.sweep(
            base, {"queue.size": ["30 packets"]}, seeds=runs, store=store, jobs=1
        ),
        "a sweep's cells with one seed": lambda store: forebay.sweep(
            base, sizes, seeds=1, store=store, jobs=1
        ),
        "run with many seeds": lambda store: forebay.run(base, seeds=runs, store=store, jobs=1),
    }
    forebay.run(base, seeds=2)  # imports
    for name, call in calls.items():
        call_ms = [beside_ms(call, runs) for _ in range(2)]
        shown = ", ".join(f"{each:.2f}" for each in sorted(call_ms))
        print(f"{name}: {shown} ms of CPU a run beside the simulation (1)", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
