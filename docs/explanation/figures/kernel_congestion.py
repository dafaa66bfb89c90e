"""The window of one flow over time: the simulator's, and the kernel's with our BPF programs.

sudo .venv/bin/python docs/explanation/figures/kernel_congestion.py measure   # the CSV, six minutes
python docs/explanation/figures/kernel_congestion.py table                    # of the page
python docs/explanation/figures/kernel_congestion.py draw                     # the picture
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import forebay
from forebay.scenario import loads

HERE = Path(__file__).parent
DATA = HERE / "kernel-congestion-controls.csv"
FIGURE = HERE.parents[1] / "images/kernel-congestion-controls.svg"

CONTROLS = ("bic", "cubic-beta-0.8", "cubic-beta-0.7", "compound", "scalable")
ENGINES = {"simulation": "simulator", "testbed": "kernel"}
STEP_S = 0.1
# One flow over 167 packets of bandwidth times delay, and half of that as buffer.
SCENARIO = """
link.rate = "20 Mbit/s"
queue.size = "83 packets"
measure = { warmup = "100 ms", duration = "60 s" }
[[traffic]]
flows = 1
rtt = "100 ms"
start = "0 s"
"""
# Compared from here on: slow start overshoots, and how far is a matter of burstiness.
SETTLED_S = 10.0


def windows() -> Iterator[tuple[str, np.ndarray]]:
    for control in CONTROLS:
        scenario = loads(SCENARIO, overrides=[f"traffic.0.congestion_control={control}"])
        for engine, name in ENGINES.items():
            trace = forebay.trace(scenario, engine=engine, step=f"{STEP_S} s", flows=(0,), seed=1)
            yield f"{control}, {name}", trace.flows[0].cwnd_packets


def measure() -> None:
    found = dict(windows())
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["at_s", *found])
        for place, row in enumerate(zip(*found.values(), strict=False), start=1):
            out.writerow([f"{place * STEP_S:.1f}", *(f"{window:g}" for window in row)])


def load() -> dict[str, np.ndarray]:
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def period_s(window: np.ndarray) -> float:
    """Return the lag at which the window is most like itself, the shortest of its multiples."""
    moved = window - window.mean()
    alike = np.correlate(moved, moved, "full")[len(moved) :]
    first = int(np.argmax(alike < 0))
    return float((first + np.argmax(alike[first:]) + 1) * STEP_S)


def table() -> None:
    data = load()
    late = data["at_s"] >= SETTLED_S
    for control in CONTROLS:
        cells = []
        for name in ENGINES.values():
            window = data[f"{control}, {name}"][late]
            cells.append(f"{window.mean():.1f} | {window.std():.1f} | {period_s(window):.1f}")
        print(f"| `{control}` |", " | ".join(cells), "|")


def draw() -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "forebay"
    from matplotlib import pyplot

    data = load()
    figure, axes = pyplot.subplots(
        len(CONTROLS), 1, figsize=(9, 10), sharex=True, layout="constrained"
    )
    for ax, control in zip(axes, CONTROLS, strict=True):
        for name, style in zip(ENGINES.values(), ("-", "--"), strict=True):
            ax.plot(data["at_s"], data[f"{control}, {name}"], style, lw=1.2, label=name)
        ax.set(ylim=(100, 280), ylabel="cwnd, packets")
        ax.set_title(control, loc="left", fontsize="medium")
    axes[0].legend(loc="lower right")
    axes[-1].set_xlabel("time, s")
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    {"measure": measure, "table": table, "draw": draw}[sys.argv[1]]()
