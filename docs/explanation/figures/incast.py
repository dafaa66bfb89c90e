"""What a request and its answers need of a port's buffer: docs/how-to/incast.md.

python docs/explanation/figures/incast.py measure  # its CSV, a minute
python docs/explanation/figures/incast.py draw     # docs/images
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import forebay
from forebay.laws.incast import first_windows
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture

HERE = Path(__file__).resolve().parent
DATA = HERE / "incast.csv"
FIGURE = HERE.parents[2] / "docs/images/incast.svg"
SEEDS = 3
BUFFERS = (50, 100, 200, 300, 390, 500, 600, 700, 760, 800, 850, 900, 1000, 1200, 1500)
ANSWERS = {"15 kB": "10 packets, one window", "64 kB": "43 packets"}
Data = dict[str, list[tuple[int, float, float]]]


def measure() -> None:
    """Run both lengths of an answer with every buffer."""
    scenario = forebay.load("incast")
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("answer", "packets", "loss_percent", "request_p99_ms"))
        for answer in ANSWERS:
            for packets in BUFFERS:
                changes = {"traffic.0.response": answer, "queue.size": f"{packets} packets"}
                longer = {"measure.warmup": "100 ms", "measure.duration": "1 s"}
                row = forebay.run(scenario.replace(changes | longer), seeds=SEEDS).to_row()
                lost, whole = (
                    row.get(f"class.workers.{name}", float("nan"))
                    for name in ("loss_rate", "request_s.p99")
                )
                out.writerow((answer, packets, f"{100 * lost:.4f}", f"{1e3 * whole:.4f}"))
                file.flush()


def read() -> Data:
    """Buffer, loss and time of a request by the length of an answer."""
    found: Data = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            values = int(row["packets"]), float(row["loss_percent"]), float(row["request_p99_ms"])
            found.setdefault(row["answer"], []).append(values)
    return found


def draw() -> None:
    """By buffer: loss, with what the first windows lose by count, and the slowest requests."""
    data = read()
    law = first_windows(forebay.load("incast").replace({"traffic.0.response": "15 kB"}))
    assert law is not None, "there are requests"
    first = [100 * law.lost_share(buffer) for buffer in BUFFERS]
    lost = [Line([b for b, *_ in rows], [loss for _, loss, _ in rows], ANSWERS[answer])
            for answer, rows in data.items()]  # fmt: skip
    lost.append(Line(list(BUFFERS), first, "first windows, counted"))
    slow = [Line([b for b, *_ in rows], [ms for *_, ms in rows], ANSWERS[answer])
            for answer, rows in data.items()]  # fmt: skip
    panels = [
        Panel(lost, "buffer, packets", "packets lost, %"),
        Panel(slow, "buffer, packets", "whole request, p99, ms", log="y"),
    ]
    draw_picture(Picture(panels, columns=2), "Forty workers answer at once, 25 Gbit/s", FIGURE)


if __name__ == "__main__":
    {"measure": measure, "draw": draw}[sys.argv[1]]()
