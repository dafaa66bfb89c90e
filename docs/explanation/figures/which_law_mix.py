"""Which law governs a mix: least buffers by the atlas.

python docs/explanation/figures/which_law_mix.py draw              # docs/images
python docs/explanation/figures/which_law_mix.py table cubic+bbr3  # a table of the page
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from forebay.engines.atlas import model, scope
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture

FIGURE = Path(__file__).resolve().parents[2] / "images/which-law-mix.svg"
SHARES = {"CUBIC alone": 0.0, "5 % BBRv3": 0.05, "50 % BBRv3": 0.5, "BBRv3 alone": 1.0}
FLOWS = (10, 20, 40, 80, 160, 320, 640, 1000)
GOAL, WINDOW, RTT_S, SPREAD, ACCESS = 0.98, 30.0, 0.06, 3.0, 3.0


def link(
    flows: int, share: float, window: float = WINDOW, family: tuple[str, str] = ("cubic", "bbr3")
) -> scope.Point:
    """Return a link of so many flows; its rate follows from window and round trip."""
    pps = flows * window / RTT_S
    second = round(share * flows)
    return scope.Point(family, flows, second, pps, RTT_S, SPREAD, ACCESS, 1)


def least(of: scope.Point, goal: float = GOAL) -> tuple[float, float]:
    """Return the first buffer that reaches a utilization, and the loss there; NaN if none does."""
    found = model.load(of.controls)
    sizes = np.unique(np.round(np.geomspace(1, max(12.0, 4.0 * of.bdp), 300)).astype(int))
    said = found.answer([of.with_packets(int(size)) for size in sizes])
    reached = np.flatnonzero(said["idle"][0] <= 1.0 - goal)
    if not reached.size:
        return math.nan, math.nan
    at = reached[0]
    return float(sizes[at]), float(said["loss"][0][at])


def root(of: scope.Point) -> float:
    """Return BDP/sqrt(n), packets."""
    return of.bdp / math.sqrt(of.flows)


def panels() -> Iterator[Panel]:
    """By flows: the least over BDP/sqrt(n), in packets, and the loss there."""
    over, packets, lost = [], [], []
    for name, share in SHARES.items():
        links = [link(flows, share) for flows in FLOWS]
        found = [least(each) for each in links]
        over.append(Line(list(FLOWS), [size / root(each) for (size, _), each in
                                       zip(found, links, strict=True)], name))  # fmt: skip
        packets.append(Line(list(FLOWS), [size for size, _ in found], name))
        lost.append(Line(list(FLOWS), [100 * loss for _, loss in found], name))
    yield Panel(over, "flows", f"least for {GOAL:.0%} over BDP/√n", log="xy")
    yield Panel(packets, "flows", f"least for {GOAL:.0%}, packets", log="xy")
    yield Panel(lost, "flows", "loss there, %", log="x")


def draw() -> None:
    """Draw the picture."""
    title = "CUBIC with BBRv3: windows of 30 packets, 60 ms"
    draw_picture(Picture(list(panels()), columns=3), title, FIGURE)


def table(family: str) -> None:
    """Print the least for 98 % over BDP/sqrt(n) by window and share of the second control."""
    first, second = family.split("+")
    for window in (5, 10, 30, 100, 300):
        flows = min(200, int(scope.BOUNDS["pps"][2] * RTT_S / window))
        cells = []
        for share in SHARES.values():
            each = link(flows, share, float(window), (first, second))
            size, loss = least(each)
            cells.append(
                "–"
                if math.isnan(size)
                else f"{size / root(each):.2f} ({size:.0f}; {100 * loss:.2g} %)"
            )
        print(f"| {window} | {flows} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    {"draw": draw, "table": table}[sys.argv[1]](*sys.argv[2:])
