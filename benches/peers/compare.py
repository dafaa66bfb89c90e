"""Our simulator beside ns-2 and ns-3, where they are installed: one dumbbell, readings and speed.

CPU time is that of the run alone, without the peers' set-up. ns-3 is about a hundred times slower,
so it runs one cell with one seed. Arguments such as ``100/129`` choose other cells for all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median

import ns2
import ns3
import ours

Cell = tuple[int, int]
CELLS: tuple[Cell, ...] = ((100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128))
TITLES = "  util %  loss %   queue M pkt/s"


@dataclass(frozen=True)
class Column:
    """A simulator, and how much of it we can wait for."""

    title: str
    run: Callable[[int, int, int], dict[str, float]]
    seeds: int
    cells: Sequence[Cell]

    def text(self, cell: Cell) -> str:
        """Its readings of a cell: means over its seeds, median speed."""
        if cell not in self.cells:
            return f"{'':{len(TITLES)}}"
        return _row([self.run(*cell, seed) for seed in range(1, self.seeds + 1)])


def _row(runs: list[dict[str, float]]) -> str:
    def average(key: str) -> float:
        return mean(run[key] for run in runs)

    speed = median(run["packets"] / run["cpu"] for run in runs) / 1e6
    return (
        f"{100 * average('utilization'):8.2f} {100 * average('loss'):7.3f}"
        f" {average('queue'):7.1f} {speed:7.3f}"
    )


def _columns(cells: Sequence[Cell]) -> list[Column]:
    columns = [Column("ours, 5 seeds", ours.run, 5, cells)]
    slow = cells if cells != CELLS else ((100, 129),)
    for name, peer, seeds, which in (("ns-2", ns2, 5, cells), ("ns-3", ns3, 1, slow)):
        if wanting := peer.missing():
            print(f"{name} is left out: {wanting}", file=sys.stderr)
        else:
            plural = "s" if seeds > 1 else ""
            columns.append(Column(f"{name}, {seeds} seed{plural}", peer.run, seeds, which))
    return columns


def _cells(arguments: Sequence[str]) -> Sequence[Cell]:
    try:
        chosen = [(int(flows), int(limit)) for flows, limit in (a.split("/") for a in arguments)]
    except ValueError:
        sys.exit("compare.py: a cell is FLOWS/LIMIT, such as 100/129")
    return chosen or CELLS


def main() -> None:
    """Print the table, a row a cell."""
    cells = _cells(sys.argv[1:])
    columns = _columns(cells)
    print(f"{'flows limit':12}" + " ".join(f"{column.title:^{len(TITLES)}}" for column in columns))
    print(f"{'':12}" + " ".join(TITLES for _ in columns))
    for flows, limit in cells:
        line = f"{flows:5} {limit:5} "
        for column in columns:
            line += column.text((flows, limit)) + " "
        print(line.rstrip(), flush=True)


if __name__ == "__main__":
    main()
