"""Round trips all alike, and a little less so: measures what that does, and draws it.

python docs/explanation/figures/equal_round_trips.py measure   # two tables as CSV, minutes
python docs/explanation/figures/equal_round_trips.py draw      # docs/images/equal-round-trips.svg
python docs/explanation/figures/equal_round_trips.py table     # the page's tables
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import forebay
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SPREAD_DATA = HERE / "equal_round_trips_spread.csv"
JITTER_DATA = HERE / "equal_round_trips_jitter.csv"
FIGURE = ROOT / "docs/images/equal-round-trips.svg"
TWO = HERE / "equal-round-trips.toml"
FIVE = ROOT / "scenarios/heterogeneous-mix.toml"
DRAWN_AS_NONE = 0.003  # on a logarithmic axis
Sets = tuple[str, ...]
Readings = tuple[float, ...]


def _each(classes: int, *sets: str) -> Sets:
    return tuple(f"traffic.{i}.{each}" for i in range(classes) for each in sets)


RENO = _each(2, "congestion_control=reno")
OC3 = (*RENO, *_each(2, "flows=50"), "link.rate=155 Mbit/s", "queue.size=129 packets")
# A link's round trip in microseconds, and what it changes of the scenario.
LINKS: dict[str, tuple[int, Sets]] = {
    "155 Mbit/s, 100 Reno": (100_000, OC3),
    "622 Mbit/s, 198 Reno": (67_000, RENO),
    "622 Mbit/s, 99 Reno, 99 CUBIC": (67_000, ()),
}
# Round trips lie so far to either side, in microseconds.
SPREADS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)


def _slow(rtt_ms: int, packets: int) -> tuple[Path, Sets]:
    link = ("link.rate=155.5 Mbit/s", f"queue.size={packets} packets", "measure.warmup=20 s")
    return FIVE, (*link, *_each(5, f"rtt={rtt_ms} ms"))


GIGABIT = ("link.rate=1 Gbit/s", "queue.size=397 packets")
# What the testbed's kernel read where all round trips are alike: utilization and loss, %, and the
# mean queue. The mix of five from yang_2013/measured.toml (two runs each), the others from
# docs/decisions/a-router-that-pauses.md (five and two).
CELLS: dict[str, tuple[Path, Sets, Readings]] = {
    "155.5 Mbit/s, mix of five, 112 ms, 28 packets": (*_slow(112, 28), (97.8, 3.00, 15.5)),
    "155.5 Mbit/s, mix of five, 268 ms, 66 packets": (*_slow(268, 66), (96.4, 1.00, 26.9)),
    "155.5 Mbit/s, mix of five, 360 ms, 89 packets": (*_slow(360, 89), (96.1, 0.78, 33.3)),
    "155.5 Mbit/s, mix of five, 112 ms, 40 packets": (*_slow(112, 40), (97.9, 2.95, 21.8)),
    "155.5 Mbit/s, mix of five, 268 ms, 96 packets": (*_slow(268, 96), (96.5, 0.99, 38.0)),
    "155.5 Mbit/s, mix of five, 360 ms, 129 packets": (*_slow(360, 129), (96.1, 0.78, 48.9)),
    "622 Mbit/s, Reno and CUBIC, 67 ms, 247 packets": (TWO, (), (98.0, 0.68, 111.0)),
    "1 Gbit/s, Reno and CUBIC, 67 ms, 397 packets": (TWO, GIGABIT, (97.75, 0.315, 154.0)),
}
JITTERS = (0, 50, 100, 200, 300, 400, 600, 800, 1600)


def measure() -> None:
    """Run every link with every spread, and every cell of the kernel's with every jitter."""
    with SPREAD_DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["link", "spread_us", "utilization", "half", "loss", "queue", "jain"])
        for link, (middle, sets) in LINKS.items():
            for spread in SPREADS:
                rtt = f'{{ uniform = ["{middle - spread} us", "{middle + spread} us"] }}'
                varied = _each(2, f"rtt={rtt}" if spread else f"rtt={middle} us")
                out.writerow([link, spread, *_run(TWO, (*sets, *varied), seeds=8)])
                file.flush()
    with JITTER_DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["cell", "jitter_us", "utilization", "half", "loss", "queue", "jain"])
        for cell, (scenario, sets, _) in CELLS.items():
            for jitter in JITTERS:
                shaken = _each(5 if scenario == FIVE else 2, f"jitter={jitter} us")
                out.writerow([cell, jitter, *_run(scenario, (*sets, *shaken), seeds=4)])
                file.flush()


def _run(scenario: Path, sets: Sets, seeds: int) -> list[str]:
    outcome = forebay.run(forebay.load(scenario, sets), seeds=seeds)
    bottleneck = outcome.links["bottleneck"]
    used, loss = bottleneck.utilization, bottleneck.loss_rate
    queue = bottleneck.queue_packets.mean
    assert loss is not None and queue is not None
    fairness = mean(each.jain.value for each in outcome.classes if each.jain is not None)
    half = 50 * (used.high - used.low)
    values = (100 * used.value, half, 100 * loss.value, queue.value, fairness)
    return [f"{value:.3f}" for value in values]


def read(data: Path) -> dict[str, dict[int, Readings]]:
    """Readings by link or cell, and by spread or jitter."""
    found: dict[str, dict[int, Readings]] = {}
    with data.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for name, changed, *readings in rows:
            found.setdefault(name, {})[int(changed)] = tuple(map(float, readings))
    return found


def deviations(jitter: int) -> tuple[float, float, float]:
    """From the kernel, in the mean over the cells: points of utilization, % of loss and queue."""
    data = read(JITTER_DATA)
    pairs = [(data[cell][jitter], kernel) for cell, (_, _, kernel) in CELLS.items()]
    return (
        mean(abs(ours[0] - kernel[0]) for ours, kernel in pairs),
        mean(100 * abs(ours[2] / kernel[1] - 1) for ours, kernel in pairs),
        mean(100 * abs(ours[3] / kernel[2] - 1) for ours, kernel in pairs),
    )


def draw() -> None:
    """What a spread does, in transmission times of a packet, and what jitter does."""
    used, fair = [], []
    for link, rows in read(SPREAD_DATA).items():
        packet_us = 12_000 / float(link.split()[0])
        x = [max(spread / packet_us, DRAWN_AS_NONE) for spread in rows]
        bounds = [(row[0] - row[1], row[0] + row[1]) for row in rows.values()]
        used.append(Line(x, [row[0] for row in rows.values()], link, y_bounds=bounds))
        fair.append(Line(x, [row[4] for row in rows.values()], link))
    by_jitter = list(zip(*map(deviations, JITTERS), strict=True))
    packets = "round trips ± packet times (leftmost: 0)"
    microseconds = "jitter of each segment, µs"
    panels = [
        Panel(used, packets, "utilization, %", log=("x",)),
        Panel(fair, packets, "fairness in a class (Jain)", log=("x",)),
        _from_kernel(microseconds, "points of utilization from the kernel", by_jitter[:1]),
        _from_kernel(microseconds, "% from the kernel", by_jitter[1:]),
    ]
    draw_picture(Picture(panels, columns=2), "Round trips that are all alike", FIGURE)


def _from_kernel(x_label: str, y_label: str, columns: Iterable[Readings]) -> Panel:
    names = ("loss", "mean queue") if "%" in y_label else ("utilization",)
    lines = [Line(JITTERS, y, name) for name, y in zip(names, columns, strict=True)]
    return Panel(lines, x_label, y_label)


def table() -> None:
    """Print the page's rows."""
    spreads, cells = read(SPREAD_DATA), read(JITTER_DATA)
    for spread in SPREADS:
        rows = (spreads[link][spread] for link in LINKS)
        shown = (f"{u:.1f} ± {h:.1f}, {loss:.2f}, {q:.0f}, {j:.2f}" for u, h, loss, q, j in rows)
        print(f"| {spread or 'none'} | {' | '.join(shown)} |")
    for cell, (_, _, (used, lost, queue)) in CELLS.items():
        rows = (cells[cell][jitter] for jitter in (0, 200, 400, 800))
        shown = (f"{u:.1f}, {loss:.2f}, {q:.1f}" for u, _, loss, q, _ in rows)
        print(f"| {cell} | {used:.1f}, {lost:.2f}, {queue:.1f} | {' | '.join(shown)} |")
    for jitter in JITTERS:
        print(f"| {jitter} | {' | '.join(f'{each:.2f}' for each in deviations(jitter))} |")


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
