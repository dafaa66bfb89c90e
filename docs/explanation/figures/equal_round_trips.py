"""Round trips all alike, and a little less so: measures what that does, and draws it.

python docs/explanation/figures/equal_round_trips.py measure   # equal_round_trips.csv, minutes
python docs/explanation/figures/equal_round_trips.py draw      # docs/images/equal-round-trips.svg
python docs/explanation/figures/equal_round_trips.py table     # the page's table
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture

HERE = Path(__file__).resolve().parent
DATA = HERE / "equal_round_trips.csv"
FIGURE = HERE.parents[1] / "images/equal-round-trips.svg"
SCENARIO = HERE / "equal-round-trips.toml"
SEEDS = 8
RENO = tuple(f"traffic.{i}.congestion_control=reno" for i in (0, 1))
OC3 = (*RENO, *(f"traffic.{i}.flows=50" for i in (0, 1)), "link.rate=155 Mbit/s")
# A link's round trip in microseconds, and what it changes of the scenario.
LINKS: dict[str, tuple[int, tuple[str, ...]]] = {
    "155 Mbit/s, 100 Reno": (100_000, (*OC3, "queue.size=129 packets")),
    "622 Mbit/s, 198 Reno": (67_000, RENO),
    "622 Mbit/s, 99 Reno, 99 CUBIC": (67_000, ()),
}
# Round trips lie so far to either side, in microseconds.
SPREADS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
DRAWN_AS_NONE = 0.003  # on a logarithmic axis
Row = tuple[float, float, float, float, float]


def measure() -> None:
    """Run every link with every spread."""
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        head = ("utilization", "half_interval", "loss_percent", "queue_packets", "jain")
        out.writerow(["link", "spread_us", *head])
        for link in LINKS:
            out.writerows([link, spread, *_run(link, spread)] for spread in SPREADS)
            file.flush()


def _run(link: str, spread: int) -> list[str]:
    middle, sets = LINKS[link]
    rtt = f'{{ uniform = ["{middle - spread} us", "{middle + spread} us"] }}'
    if spread == 0:
        rtt = f"{middle} us"
    changes = [*sets, *(f"traffic.{i}.rtt={rtt}" for i in (0, 1))]
    outcome = forebay.run(forebay.load(SCENARIO, changes), seeds=SEEDS)
    bottleneck = outcome.links["bottleneck"]
    used, loss = bottleneck.utilization, bottleneck.loss_rate
    queue = bottleneck.queue_packets.mean
    jain = [each.jain for each in outcome.classes]
    assert loss is not None and queue is not None and all(jain)
    fairness = sum(each.value for each in jain if each is not None) / len(jain)
    half = 50 * (used.high - used.low)
    values = (100 * used.value, half, 100 * loss.value, queue.value, fairness)
    return [f"{value:.3f}" for value in values]


def read() -> dict[str, dict[int, Row]]:
    """Readings by link and spread."""
    found: dict[str, dict[int, Row]] = {}
    with DATA.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for link, spread, used, half, loss, queue, jain in rows:
            row = float(used), float(half), float(loss), float(queue), float(jain)
            found.setdefault(link, {})[int(spread)] = row
    return found


def draw() -> None:
    """Utilization and fairness over the spread, in transmission times of a packet."""
    used, fair = [], []
    for link, rows in read().items():
        packet_us = 12_000 / float(link.split()[0])
        x = [max(spread / packet_us, DRAWN_AS_NONE) for spread in rows]
        bounds = [(row[0] - row[1], row[0] + row[1]) for row in rows.values()]
        used.append(Line(x, [row[0] for row in rows.values()], link, y_bounds=bounds))
        fair.append(Line(x, [row[4] for row in rows.values()], link))
    used.append(Line([DRAWN_AS_NONE], [98.19], "the last one, Linux 6.18", "dots"))
    label = "spread of round trips, ± packets (leftmost: none)"
    panels = [
        Panel(used, label, "utilization, %", log=("x",)),
        Panel(fair, label, "fairness in a class (Jain)", log=("x",)),
    ]
    draw_picture(Picture(panels, columns=2), "Round trips that are all alike", FIGURE)


def table() -> None:
    """Print the page's rows."""
    data = read()
    for spread in SPREADS:
        cells = (data[link][spread] for link in LINKS)
        shown = (f"{u:.1f} ± {h:.1f}, {loss:.2f}, {q:.0f}, {j:.2f}" for u, h, loss, q, j in cells)
        print(f"| {spread or 'none'} | {' | '.join(shown)} |")


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
