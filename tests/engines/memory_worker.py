"""Runs one shape, and prints the growth of the peak and the estimate, in bytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memory_shapes import SHAPES

from forebay.engines.footprint import Limit
from forebay.engines.simulation import SimulationEngine
from forebay.scenario import loads

SMALL = '[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\nstart = "0 s"\n'


def status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise LookupError(name)


def engine() -> SimulationEngine:
    made = SimulationEngine()
    made.limit_memory(10**11)
    return made


def main() -> None:
    estimates: list[float] = []
    check = Limit.check

    def recorded(self, estimated, seeds):
        estimates.append(estimated.least(seeds))
        check(self, estimated, seeds)

    Limit.check = recorded  # type: ignore[method-assign]
    engine().run(loads(SMALL), [1])  # imports what every run needs
    scenario = loads(SHAPES[sys.argv[1]])
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    engine().run(scenario, [1], jobs=1)
    print(json.dumps([status("VmHWM") - before, estimates[-1]]))


main()
