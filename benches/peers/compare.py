"""Our simulator beside ns-2 and ns-3, where they are installed: one dumbbell, readings and speed.

CPU time is that of the run alone, without the peers' set-up. ns-3 takes some twenty times as long
as ns-2, so it runs one cell with one seed. Arguments such as ``100/129`` choose others for all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, median

import ns2
import ns3
import ours

Cell = tuple[int, int]
CELLS: tuple[Cell, ...] = ((100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128))
TITLES = "  util %  loss %   queue M pkt/s"
WIDTH = 12


@dataclass(frozen=True)
class Column:
    """A simulator, and how much of it we can wait for."""

    title: str
    run: Callable[[int, int, int], dict[str, float]]
    seeds: int
    cells: Sequence[Cell]


def _readings(runs: Sequence[dict[str, float]]) -> str:
    """Means over seeds, median speed."""
    if not runs:
        return " " * len(TITLES)

    def average(key: str) -> float:
        return mean(run[key] for run in runs)

    return (
        f"{100 * average('utilization'):8.2f} {100 * average('loss'):7.3f}"
        f" {average('queue'):7.1f} {median(map(_speed, runs)) / 1e6:7.3f}"
    )


def _speed(run: dict[str, float]) -> float:
    return run["packets"] / run["cpu"]


def _times_as_fast(own: Sequence[dict[str, float]], peers: Sequence[dict[str, float]]) -> str:
    """Median of the ratios of runs that followed each other: both met the machine in one mood."""
    if not peers:
        return " " * WIDTH
    ratios = (_speed(our) / _speed(peer) for our, peer in zip(own, peers, strict=False))
    return f"{median(ratios):{WIDTH}.1f}"


def _measure(cell: Cell, columns: Sequence[Column]) -> dict[str, list[dict[str, float]]]:
    """Every simulator in turn, seed by seed."""
    runs: dict[str, list[dict[str, float]]] = {column.title: [] for column in columns}
    for seed in range(1, max(column.seeds for column in columns) + 1):
        for column in columns:
            if cell in column.cells and seed <= column.seeds:
                runs[column.title].append(column.run(*cell, seed))
    return runs


def _peers(cells: Sequence[Cell]) -> list[Column]:
    slow = cells if cells != CELLS else ((100, 129),)
    columns = []
    for name, peer, seeds, which in (("ns-2", ns2, 5, cells), ("ns-3", ns3, 1, slow)):
        if wanting := peer.missing():
            print(f"{name} is left out: {wanting}", file=sys.stderr)
        else:
            columns.append(Column(name, peer.run, seeds, which))
    return columns


def _cells(arguments: Sequence[str]) -> Sequence[Cell]:
    try:
        chosen = [(int(flows), int(limit)) for flows, limit in (a.split("/") for a in arguments)]
    except ValueError:
        sys.exit("compare.py: a cell is FLOWS/LIMIT, such as 100/129")
    return chosen or CELLS


def main() -> None:
    """Print the readings, a row a cell, and how many times as fast as each peer we are."""
    cells = _cells(sys.argv[1:])
    own = [
        Column(f"ours, {sender}", partial(ours.run, sender), 5, cells) for sender in ours.SENDERS
    ]
    peers = _peers(cells)
    columns = own + peers
    pairs = [(our.title, peer.title) for our in own for peer in peers]
    print(f"{'flows limit':12}" + " ".join(f"{column.title:^{len(TITLES)}}" for column in columns))
    print(f"{'':12}" + " ".join(TITLES for _ in columns))
    ours.run(ours.SENDERS[0], *cells[0], 1)  # what is imported on the first run is no part of a run
    ratios = []
    for cell in cells:
        runs = _measure(cell, columns)
        name = f"{cell[0]:5} {cell[1]:5} "
        print((name + " ".join(_readings(runs[c.title]) for c in columns)).rstrip(), flush=True)
        ratios.append(name + " ".join(_times_as_fast(runs[a], runs[b]) for a, b in pairs))
    if pairs:
        heads = (f"{s}/{peer.title}".rjust(WIDTH) for s in ours.SENDERS for peer in peers)
        print("\ntimes as fast as a peer", f"{'':12}" + " ".join(heads), *ratios, sep="\n")


if __name__ == "__main__":
    main()
