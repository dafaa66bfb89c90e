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
from typing import Any

import numpy as np

from forebay.engines import registry
from forebay.scenario import Duration, loads

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
# Epochs are compared from here on: slow start overshoots, and how far is a matter of burstiness.
SETTLED_S = 10.0
# A cut takes this share at least, within this time.
CUT, WITHIN_S = 0.05, 0.5


def windows() -> Iterator[tuple[str, np.ndarray]]:
    for control in CONTROLS:
        scenario = loads(SCENARIO, overrides=[f"traffic.0.congestion_control={control}"])
        for engine, name in ENGINES.items():
            player: Any = registry.get(engine)
            trace = player.trace(scenario, step=Duration(STEP_S), flows=(0,), seed=1)
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


def cuts(at: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Return the places where the window is at a top and then cut."""
    reach, found, place = round(WITHIN_S / STEP_S), [], 0
    while place < len(at) - reach:
        after = window[place : place + reach + 1]
        if window[place] >= after.max() and after[-1] < (1 - CUT) * window[place]:
            found.append(place)
            place += reach
        place += 1
    return np.array(found, dtype=int)


def table() -> None:
    data = load()
    at = data["at_s"]
    late = at >= SETTLED_S
    for control in CONTROLS:
        cells = []
        for name in ENGINES.values():
            window = data[f"{control}, {name}"]
            tops = cuts(at, window)
            tops = tops[at[tops] >= SETTLED_S]
            apart = np.diff(at[tops]).mean() if len(tops) > 1 else float("nan")
            mean, spread = window[late].mean(), window[late].std()
            cells.append(f"{mean:.1f} | {spread:.1f} | {apart:.2f}")
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
