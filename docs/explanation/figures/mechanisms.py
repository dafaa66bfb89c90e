"""Mechanisms of TCP, switched one at a time: measures them, and draws what they do.

cargo build --release -p forebay-sim --example dumbbell
python docs/explanation/figures/mechanisms.py measure   # mechanisms.csv, minutes
python docs/explanation/figures/mechanisms.py draw      # docs/images/why-the-kernel-differs.svg
"""

from __future__ import annotations

import csv
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

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
    "linux, no delayed ACKs, access 10 Mbit/s": "sender=linux delack=0 acc=1e7",
    "linux, access 10 Mbit/s": "sender=linux acc=1e7",
}
READINGS = [
    *("util", "loss", "meanq", "jain", "timeouts"),
    *("cuts", "lost", "repair", "idc1", "idc10", "idc100", "idccut", "wsum", "wsd", "sync"),
    *("train", "longest"),
]


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


def load() -> dict[tuple[str, int, int], list[dict[str, str]]]:
    found = defaultdict(list)
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["variant"], int(row["flows"]), int(row["limit"])].append(row)
    return found


def mean(rows: list[dict[str, str]], key: str) -> float:
    return statistics.mean(float(row[key]) for row in rows)


def half_width(rows: list[dict[str, str]], key: str) -> float:
    """Half of a 95 % Student-t interval, for eight seeds."""
    return 2.365 * statistics.stdev(float(row[key]) for row in rows) / len(rows) ** 0.5


def table() -> None:
    data = load()
    for name in VARIANTS:
        cells = []
        for flows, limit in CELLS:
            rows = data[name, flows, limit]
            utilization = f"{mean(rows, 'util'):.1f} ± {half_width(rows, 'util'):.1f}"
            cells.append(f"{utilization}, {mean(rows, 'loss'):.2f}")
        first = data[name, 100, 64]
        keys = ("timeouts", "lost", "repair", "train", "idc10", "sync")
        details = [f"{mean(first, key):.2f}" for key in keys]
        print("|", " | ".join([name, *cells, *details]), "|")


def longest(rows: list[dict[str, str]]) -> list[float]:
    curves = [[float(value) for value in row["longest"].split(",")] for row in rows]
    return [statistics.mean(values) for values in zip(*curves, strict=True)]


def draw() -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "forebay"
    from matplotlib import pyplot

    data = load()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    curves = {
        "linux, no delayed ACKs": ("C3", "growth by window, an ACK for each segment"),
        "ns2": ("C1", "ns2: growth by ACK, an ACK for each segment"),
        "linux, no delayed ACKs, growth by ACK": ("C4", "linux, but growth and ACKs as ns2"),
        "linux": ("C0", "linux: growth by window, delayed ACKs"),
        "linux, growth by ACK": ("C2", "linux, growth by ACK (half as fast)"),
    }
    for name, (colour, label) in curves.items():
        values = longest(data[name, 100, 64])
        left.plot(range(1, len(values) + 1), values, "o-", color=colour, label=label, markersize=4)
    left.set(xlabel="round trips since the last repair", ylabel="longest train of a flow, packets")
    left.set(title="Trains grow by a packet a round trip,\nunless delayed ACKs break them")
    left.set_ylim(0)
    left.legend(fontsize=8, frameon=False)
    for name in VARIANTS:
        rows = data[name, 100, 64]
        known = name in curves
        right.errorbar(
            mean(rows, "idc10"),
            mean(rows, "util"),
            yerr=half_width(rows, "util"),
            fmt="o" if known else ("^" if "access" in name else "."),
            color=curves[name][0] if known else ("black" if "access" in name else "0.6"),
            markersize=6,
        )
    right.axhspan(95.1, 95.9, color="C0", alpha=0.15, lw=0)
    right.text(9.2, 95.5, "the kernel, four runs", ha="right", va="center", fontsize=8, color="C0")
    right.axhspan(90.7, 91.5, color="C1", alpha=0.2, lw=0)
    right.text(2.5, 91.1, "ns-2, ns-3, htsim", ha="left", va="center", fontsize=8, color="C1")
    right.set(xlabel="arrivals in 10 ms: variance over mean", ylabel="utilization, %")
    right.set(title="All variants, 100 flows, 64 packets\n(triangles: access links of 10 Mbit/s)")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})
    if len(sys.argv) > 2:
        figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
