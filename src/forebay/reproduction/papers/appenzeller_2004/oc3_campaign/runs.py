"""The table of the study's runs: a line for each cell, with the utilization of its ten seeds.

    python -m forebay.reproduction.papers.appenzeller_2004.oc3_campaign.runs EXPORTED.csv runs.csv

makes it from the table that ``forebay sweep study.toml --export EXPORTED.csv`` writes.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import NamedTuple

KEY = ("flows", "multiple", "rtt_low", "rtt_high")
_UTILIZATION = "link.bottleneck.utilization"


class Cell(NamedTuple):
    """One combination of the study: RTTs in ms, the buffer in bdp/sqrt(n)."""

    flows: int
    multiple: float
    rtt_low: int
    rtt_high: int

    @property
    def rtts(self) -> tuple[int, int]:
        """Shortest and longest round trip, ms."""
        return self.rtt_low, self.rtt_high


Runs = dict[Cell, list[float]]
"""Utilization by cell, a number for each seed from 1 on, with five decimals."""


def read(path: Path) -> Runs:
    """Return the table, in the order of its lines."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return {
        Cell(int(flows), float(multiple), int(low), int(high)): [float(each) for each in used]
        for flows, multiple, low, high, *used in lines
    }


def collected(exported: Path) -> Runs:
    """Return the runs of a table that ``forebay sweep`` has written."""
    runs: Runs = {}
    with exported.open(newline="", encoding="utf-8") as file:
        for line in sorted(csv.DictReader(file), key=lambda each: int(each["seed"])):
            low, high = map(int, re.findall(r"(\d+) ms", line["traffic.0.rtt"]))
            multiple = float(line["queue.size"].split()[0])
            cell = Cell(int(line["traffic.0.flows"]), multiple, low, high)
            runs.setdefault(cell, []).append(round(float(line[_UTILIZATION]), 5))
    return dict(sorted(runs.items()))


def written(runs: Runs) -> str:
    """Return the table as text."""
    seeds = [f"seed_{each}" for each in range(1, len(next(iter(runs.values()))) + 1)]
    head = ",".join([*KEY, *seeds])
    lines = [
        f"{cell.flows},{cell.multiple:g},{cell.rtt_low},{cell.rtt_high},"
        + ",".join(f"{each:g}" for each in used)
        for cell, used in runs.items()
    ]
    return "\n".join([head, *lines]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(written(collected(Path(sys.argv[1]))), encoding="utf-8")
