"""Mechanisms of TCP, switched one at a time: measures them, and draws what they do.

cargo build --release -p forebay-sim --example dumbbell
python docs/explanation/figures/mechanisms.py measure   # mechanisms.csv, minutes
python docs/explanation/figures/mechanisms.py draw      # docs/images/why-the-kernel-differs.svg
python docs/explanation/figures/mechanisms.py table     # of the page
"""

from __future__ import annotations

import csv
import math
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
DUMBBELL = ROOT / "target/release/examples/dumbbell"
DATA = HERE / "mechanisms.csv"
FIGURE = ROOT / "docs/images/why-the-kernel-differs.svg"

CELLS = [(100, 64), (100, 129), (100, 258), (400, 32)]
SEEDS = range(1, 9)
# Every flow's access link is infinitely fast, as the kernel's was; start, warm-up and window too.
SETTING = ["acc=1e11", "startmax=5", "t0=15", "t1=40"]

VARIANTS = {
    "ns2": "sender=ns2",
    "ns2, growth by window": "sender=ns2 growth=window",
    "ns2, RTO of Linux": "sender=ns2 rto=linux",
    "ns2, delayed ACKs (40 ms)": "sender=ns2 delack=0.04",
    "ns2, delayed ACKs (100 ms)": "sender=ns2 delack=0.1",
    "ns2, delayed ACKs, growth by window": "sender=ns2 delack=0.04 growth=window",
    "ns2, SACK": "sender=ns2 sack=1",
    "ns2, SACK, PRR": "sender=ns2 sack=1 prr=1",
    "ns2, SACK, PRR, RACK": "sender=ns2 sack=1 prr=1 rack=1",
    "ns2, SACK, PRR, delayed ACKs, growth by window": (
        "sender=ns2 sack=1 prr=1 delack=0.04 growth=window"
    ),
    "ns2, access 10 Mbit/s": "sender=ns2 acc=1e7",
    "linux": "sender=linux",
    "linux, no delayed ACKs": "sender=linux delack=0",
    "linux, no delayed ACKs, growth by ACK": "sender=linux delack=0 growth=ack",
    "linux, growth by ACK": "sender=linux growth=ack",
    "linux, no SACK": "sender=linux sack=0",
    "linux, no PRR": "sender=linux prr=0",
    "linux, no RACK": "sender=linux rack=0",
    "linux, no tail loss probe": "sender=linux tlp=0",
    "linux, no F-RTO": "sender=linux frto=0",
    "linux, no quick ACKs": "sender=linux quick=0",
    "linux, fixed ACK delay": "sender=linux adaptive=0",
    "linux, no SACK compression": "sender=linux compress=0",
    "linux, RTO of RFC 6298": "sender=linux rto=rfc",
    "linux, initial window 2": "sender=linux iw=2",
    "linux, whole receive window at once": "sender=linux rcvwin=0",
    "linux, no delayed ACKs, access 10 Mbit/s": "sender=linux delack=0 acc=1e7",
    "linux, access 10 Mbit/s": "sender=linux acc=1e7",
}
CORRELATED = [(64, "idc10"), (129, "idc10"), (129, "idc100"), (258, "idc100")]
READINGS = [
    *("util", "loss", "meanq", "jain", "timeouts"),
    *("cuts", "lost", "repair", "idc1", "idc10", "idc100", "idccut", "wsum", "wsd", "sync"),
    *("train", "longest"),
]


Data = dict[tuple[str, int, int], list[dict[str, str]]]


def run(arguments: list[str]) -> dict[str, str]:
    said = subprocess.run([DUMBBELL, *arguments], capture_output=True, text=True, check=True)
    return dict(re.findall(r"(\S+)=(\S+)", said.stdout))


def measure() -> None:
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["variant", "flows", "limit", "seed", *READINGS])
        for name, switches in VARIANTS.items():
            for flows, limit in CELLS:
                # The limit counts the packet being sent, our buffer does not. With 400 flows the
                # detail would need a gigabyte.
                cell = [f"n={flows}", f"B={limit - 1}", f"detail={int(flows == 100)}"]
                for seed in SEEDS:
                    # Of a key given twice the last counts.
                    read = run([*cell, f"seed={seed}", *SETTING, *switches.split()])
                    row = [read.get(key, "") for key in READINGS]
                    out.writerow([name, flows, limit, seed, *row])


def load() -> Data:
    found = defaultdict(list)
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["variant"], int(row["flows"]), int(row["limit"])].append(row)
    return found


def mean(rows: list[dict[str, str]], key: str) -> float:
    return statistics.mean(float(row[key]) for row in rows)


def half_width(rows: list[dict[str, str]], key: str) -> float:
    """Half of a 95 % Student-t interval, for eight seeds."""
    return 2.365 * statistics.stdev(float(row[key]) for row in rows) / math.sqrt(len(rows))


def table() -> None:
    """Print the page's table, and the correlations that its text speaks of."""
    data = load()
    for name in VARIANTS:
        cells = []
        for flows, limit in CELLS:
            rows = data[name, flows, limit]
            utilization = f"{mean(rows, 'util'):.1f} ± {half_width(rows, 'util'):.1f}"
            cells.append(f"{utilization}, {mean(rows, 'loss'):.2f}")
        first = data[name, 100, 64]
        details = [f"{mean(first, 'timeouts'):.0f}"]
        details += [f"{mean(first, key):.1f}" for key in ("train", "idc10")]
        print("|", " | ".join([name, *cells, *details]), "|")
    for limit, key in CORRELATED:
        print(f"r of utilization and {key} at {limit} packets: {correlation(data, limit, key):.2f}")


def correlation(data: Data, limit: int, key: str) -> float:
    """Pearson's r over the variants, each the mean of its seeds."""
    rows = [data[name, 100, limit] for name in VARIANTS]
    return statistics.correlation([mean(row, key) for row in rows], [mean(r, "util") for r in rows])


def longest(rows: list[dict[str, str]]) -> list[float]:
    curves = [[float(value) for value in row["longest"].split(",")] for row in rows]
    return [statistics.mean(values) for values in zip(*curves, strict=True)]


def draw() -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "forebay"
    from matplotlib import pyplot

    data = load()
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    draw_trains(axes[0], data)
    draw_scatter(axes[1], data, 64, "idc10", (95.14, 95.84), (90.8, 91.5))
    axes[1].set(xlabel="arrivals in 10 ms: variance over mean", ylabel="utilization, %")
    axes[1].set_title("Buffer of 64 packets (5 ms):\npackets that clump within a round trip")
    draw_scatter(axes[2], data, 129, "idc100", (96.63, 97.20), (96.8, 98.3))
    axes[2].set(xlabel="arrivals in 100 ms: variance over mean", ylabel="utilization, %")
    axes[2].set_title("Buffer of 129 packets (10 ms):\nflows that swing together")
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})
    if len(sys.argv) > 2:
        figure.savefig(sys.argv[2], dpi=110)


CURVES = {
    "linux, no delayed ACKs": ("C3", "linux without delayed ACKs"),
    "ns2": ("C1", "ns2"),
    "linux, no delayed ACKs, growth by ACK": ("C4", "linux, growth and ACKs as in ns2"),
    "linux": ("C0", "linux"),
    "ns2, access 10 Mbit/s": ("black", "ns2 from access links of 10 Mbit/s"),
}


def draw_trains(axes: Any, data: Data) -> None:
    for name, (colour, label) in CURVES.items():
        values = longest(data[name, 100, 64])
        axes.plot(range(1, len(values) + 1), values, "o-", color=colour, label=label, markersize=4)
    axes.set(xlabel="round trips since the last repair", ylabel="longest train of a flow, packets")
    axes.set_title("Trains grow by a packet a round trip,\nunless something breaks them")
    axes.set_ylim(0)
    axes.legend(fontsize=8, frameon=False)


def draw_scatter(
    axes: Any,
    data: Data,
    limit: int,
    key: str,
    kernel: tuple[float, float],
    peers: tuple[float, float],
) -> None:
    """All variants; and as bands what a kernel and three simulators of others read."""
    for name in VARIANTS:
        rows = data[name, 100, limit]
        place = {"x": mean(rows, key), "y": mean(rows, "util"), "yerr": half_width(rows, "util")}
        colour = CURVES.get(name, ("0.65", ""))[0]
        axes.errorbar(**place, fmt="o" if name in CURVES else ".", color=colour, markersize=6)
    lowest = axes.get_ylim()[0]
    right = axes.get_xlim()[1]
    for (low, high), colour, label in [
        (kernel, "C0", "the kernel's runs"),
        (peers, "C1", "ns-2, ns-3, htsim"),
    ]:
        axes.axhspan(low, high, color=colour, alpha=0.15, lw=0)
        style: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8, "color": colour}
        axes.text(right, high - 0.3, label, **style)
    axes.set_ylim(lowest)


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
