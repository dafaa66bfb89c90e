"""Joint draws of what is fitted or drawn: chords, hosts, the factor on sigma and the packet.

python -m forebay.reproduction.papers.hisamatsu_2007.draws > draws.csv

Each row is one steady state of the fast edge. `choice` weighs slides 16 to 18 alone, without the
loss that slide 17 misprints; slide 19 is judged, not fitted.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Mapping

from forebay.reproduction.papers.hisamatsu_2007 import runs

COLUMNS = ("tail", "sigma_factor", "packet", "seed", "rule", "delay", "utilization", "loss",
           "throughput", "rtt", "hops4", "hops6", "hops7", "hops8", "hops9")  # fmt: skip
HOPS = (4, 6, 7, 8, 9)
PRINTED = {
    "small": {"utilization": 0.638, "throughput": 9.29, "rtt": 16.72},
    "traditional": {"utilization": 0.968, "loss": 0.004195, "throughput": 9.23, "rtt": 23.93},
}
CHOSEN = (1.0, 2.5, 1500)
"""The tail, factor and packet with the least median error of `choice`."""


def points() -> Iterator[tuple[float, float, int, int]]:
    """Yield tail, sigma_factor, packet and seed: eight draws of each, and twenty of the chosen."""
    for tail in (1.0, 1.2, 1.4, 1.7):
        for factor, packet in ((2.25, 1000), (2.5, 1000), (2.5, 1500), (2.75, 1500)):
            for seed in range(1, 21 if (tail, factor, packet) == CHOSEN else 9):
                yield tail, factor, packet, seed


def choice(small: Mapping[str, float], traditional: Mapping[str, float]) -> float:
    """Return the sum of squared logarithms of ours over the print, slides 17 and 18."""
    ours = {"small": small, "traditional": traditional}
    return sum(
        math.log(ours[rule][name] / value) ** 2
        for rule, printed in PRINTED.items()
        for name, value in printed.items()
    )


def main() -> None:
    """Write a row for each draw and rule."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for tail, factor, packet, seed in points():
        changes = (
            f"topology.two_level.tail={tail}", f"topology.two_level.seed={seed}",
            f"topology.sigma_factor={factor}", f"traffic.0.packet={packet} B",
        )  # fmt: skip
        for rule in runs.RULES:
            got, hops = runs.numbers("fast", rule, changes), runs.by_hops("fast", rule, changes)
            values = [*(got[name] for name in COLUMNS[5:10]), *(hops[each] for each in HOPS)]
            out.writerow([tail, factor, packet, seed, rule, *(f"{each:.6g}" for each in values)])
        runs.solved.cache_clear()


if __name__ == "__main__":
    main()
