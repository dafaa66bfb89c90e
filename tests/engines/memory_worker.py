"""Runs the shapes named on standard input, each in a process of its own, and prints a line for
each: the growth of the peak and the estimate, in bytes.
"""

import json
import os
import sys
from pathlib import Path

from memory_shapes import SHAPES

from forebay.effort import Effort
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


def measure(shape: str) -> tuple[float, float]:
    estimates: list[float] = []
    check = Limit.check

    def recorded(self, estimated, seeds):
        estimates.append(estimated.least(seeds))
        check(self, estimated, seeds)

    Limit.check = recorded  # type: ignore[method-assign]
    engine().run(loads(SMALL), [1])  # touches what every run needs
    scenario = loads(SHAPES[shape])
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    engine().run(scenario, [1], Effort(jobs=1))
    return status("VmHWM") - before, estimates[-1]


def main() -> None:
    engine().run(loads(SMALL), [1], Effort(jobs=1))  # imports, without a thread that stays
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(json.dumps(measure(line.strip())), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


main()
