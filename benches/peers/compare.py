"""Our simulator beside ns-2, where that is installed: the same dumbbell, readings and speed.

ns-2's CPU time is that of its run alone, without its set-up. Its `limit` counts the packet being
sent, so ours is given one packet less.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median

import forebay

HERE = Path(__file__).parent
SCENARIO = HERE.parents[1] / "scenarios" / "oc3-gsr.toml"
CELLS = ((100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128))
SEEDS = range(1, 6)


def ns2(flows: int, limit: int, seed: int) -> dict[str, float]:
    command = ["ns", str(HERE / "dumbbell.tcl"), f"n={flows}", f"limit={limit}", f"seed={seed}"]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {key: float(value) for key, value in (pair.split("=") for pair in line)}


def ours(flows: int, limit: int, seed: int) -> dict[str, float]:
    overrides = (
        f"traffic.0.flows={flows}",
        f"queue.size={limit - 1} packets",
        "traffic.0.initial_window=10",
    )
    scenario = forebay.load(SCENARIO, overrides)
    started = time.process_time()
    outcome = forebay.run(scenario, seed=seed, jobs=1)
    cpu = time.process_time() - started
    link = outcome.links["bottleneck"]
    assert link.utilization and link.loss_rate and link.queue_packets and link.queue_packets.mean
    return {
        "utilization": link.utilization.value,
        "loss": link.loss_rate.value,
        "queue": link.queue_packets.mean.value,
        "packets": outcome.provenance.packets or 0,
        "cpu": cpu,
    }


def row(runs: list[dict[str, float]]) -> str:
    def average(key: str) -> float:
        return mean(run[key] for run in runs)

    speed = median(run["packets"] / run["cpu"] for run in runs) / 1e6
    return (
        f"{100 * average('utilization'):8.2f} {100 * average('loss'):7.3f}"
        f" {average('queue'):7.1f} {speed:7.2f}"
    )


def main() -> None:
    """Print a table: a row a cell, the mean of five seeds, median speed."""
    installed = shutil.which("ns") is not None
    if not installed:
        print("ns-2 is not installed (Debian: apt-get install ns2): ours alone", file=sys.stderr)
    titles = "  util %  loss %   queue M pkt/s"
    print(f"{'flows limit':12} {'ours':^33}" + (f" {'ns-2':^33}" if installed else ""))
    print(f"{'':12}{titles}" + (f" {titles}" if installed else ""))
    for flows, limit in CELLS:
        line = f"{flows:5} {limit:5} " + row([ours(flows, limit, seed) for seed in SEEDS])
        if installed:
            line += "  " + row([ns2(flows, limit, seed) for seed in SEEDS])
        print(line, flush=True)


if __name__ == "__main__":
    main()
