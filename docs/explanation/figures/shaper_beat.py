"""Loss of a video behind a shaper against the token bucket.

python docs/explanation/figures/shaper_beat.py measure   # docs/explanation/shaper-beat.csv
python docs/explanation/figures/shaper_beat.py draw      # docs/images/shaper-beat.svg
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import forebay
from forebay.report.figures.picture import draw_picture
from forebay.report.picture import Line, Panel, Picture
from forebay.reproduction.papers.theagarajan_2006 import bottleneck

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs/explanation/shaper-beat.csv"
FIGURE = ROOT / "docs/images/shaper-beat.svg"
READING = "shaper, Be 0, 40 waiting"
SPREAD: dict[str, Any] = {"traffic.0.rtt": {"uniform": ["97 ms", "137 ms"]}}
STEPS = (18, 24, 27, 30, 34, 37, 41, 46, 51, 54, 60, 64, 68, 72, 78, 84, 90, 96, 102, 110, 120, 135,
         150, 170, 190, 205, 220)  # fmt: skip
CASES: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "RTT 117 ms": ({}, STEPS),
    "RTT 90 ms": (
        {"traffic.0.rtt": "90 ms"},
        (18, 27, 35, 39, 45, 52, 58, 65, 72, 79, 90, 100, 120, 150, 157),
    ),
    "RTT 97 to 137 ms": (SPREAD, (18, 27, 29, 35, 41, 48, 58, 62, 68, 80, 100, 150, 205)),
    "RTT 97 to 137 ms, 25 frames/s": (
        SPREAD | {"traffic.1.frame_rate": 25.0},
        (18, 27, 35, 48, 62, 70, 80, 100, 140, 150),
    ),
    "tokens all the time": ({"link.shaper.refill": "continuous"}, (18, 35, 62, 100, 150)),
}


def measure() -> None:
    """Run every point: three seeds of 100 s."""
    with TABLE.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["case", "bucket_packets", "loss_percent"])
        for case, (changes, buckets) in CASES.items():
            for bucket in buckets:
                scenario = bottleneck.scenario_of(1, bucket, 100, READING).replace(changes)
                loss = forebay.run(scenario, seeds=3).classes[1].loss_rate
                assert loss is not None
                out.writerow([case, bucket, f"{100 * loss.value:.1f}"])


def draw() -> None:
    """Draw the table: equal round trips and their beat; then what spreads it out."""
    points: dict[str, list[tuple[float, float]]] = {case: [] for case in CASES}
    with TABLE.open() as file:
        for row in csv.DictReader(file):
            points[row["case"]].append((float(row["bucket_packets"]), float(row["loss_percent"])))
    names = list(CASES)
    panels = [
        Panel(
            [_line(points, name) for name in some],
            "token bucket Bc, packets",
            "video packets lost, %",
            title,
        )
        for some, title in (
            ([names[0], names[1], names[4]], "one round trip for all flows"),
            ([names[2], names[3]], "round trips of 97 to 137 ms"),
        )
    ]
    draw_picture(Picture(panels, columns=2), "Before the shaper 40 packets may wait", FIGURE)


def _line(points: dict[str, list[tuple[float, float]]], case: str) -> Line:
    x, y = zip(*points[case], strict=True)
    return Line(x, y, case, "dashes" if case == "tokens all the time" else "line")


if __name__ == "__main__":
    {"measure": measure, "draw": draw}[sys.argv[1]]()
