"""Do the intervals of a search and of a crossing hold the truth, and does saving time leave a bias?

    .venv/bin/python benches/interval_coverage.py FILE.csv [WORLDS]

Plays 200 small worlds: the same link with other seeds each time. Each gives a crossing with its
interval, with the long warm-up and window of the scenario, and with those that
`forebay.search.settling` measures (not for a goal on loss), and a search with the long ones. The
truth uses no fitted curve: with the long ones and the seeds of all crossings together, it lies
between the last packet that misses the goal and the next one.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from forebay import engines
from forebay.scenario import Scenario, loads
from forebay.search.options import Options
from forebay.search.parameter import parameter_of
from forebay.search.problem import problem_of, upper_limit
from forebay.search.search import search
from forebay.search.settling import measure_for, watch
from forebay.search.strategies.crossing.crossing import find, pooled
from forebay.search.strategies.crossing.curve import curve_of

SEEDS = 6
FIRST_SEEDS, MOST_SEEDS = 5, 20
"""Of each buffer of a search: those of `forebay size`."""
MIX = "{ cubic = 0.6, bbr3 = 0.3, reno = 0.1 }"
LINKS = {
    "cubic": ("30 Mbit/s", 20, '"cubic"', "utilization = 0.97", 15),
    "mix": ("30 Mbit/s", 40, MIX, "utilization = 0.97", 12),
    "cubic, 98 %": ("100 Mbit/s", 40, '"cubic"', "utilization = 0.98", 46),
    "reno, loss 0.6 %": ("50 Mbit/s", 20, '"reno"', "loss_rate = 0.006", 243),
}
"""Rate, flows, controllers, goal, and the buffer to begin with."""
WAYS = ("long", "measured", "search")
COLUMNS = ("link", "measure", "world", "packets", "low", "high")


def scenario(name: str) -> Scenario:
    """Return one of the links."""
    rate, flows, control, goal, _ = LINKS[name]
    return loads(f"""
[link]
rate = "{rate}"
[[traffic]]
flows = {flows}
rtt = {{ uniform = ["30 ms", "90 ms"] }}
congestion_control = {control}
[measure]
warmup = "20 s"
duration = "40 s"
[goals]
{goal}
""")


def crossing(name: str, how: str, world: int) -> dict[str, object]:
    """Return the row of one world: its crossing and interval."""
    asked, engine = scenario(name), engines.get("simulation")
    start = LINKS[name][-1]
    seeds = range(1 + SEEDS * world, 1 + SEEDS * (world + 1))
    trace = engine.capabilities.trace
    if how == "measured" and trace is not None:
        parameter = parameter_of(asked, engine.name, upper_limit(asked))
        seen = watch(asked, trace, parameter, start, seeds[0])
        asked = asked.model_copy(update={"measure": measure_for(asked, seen)})
    link = curve_of(asked, engine, Options(seeds, len(seeds), jobs=1))
    found = find(link, start, link.limit)
    return dict(zip(COLUMNS, (name, how, world, found.packets, found.low, found.high), strict=True))


def searched(name: str, world: int) -> dict[str, object]:
    """Return the row of one world: the smallest buffer shown to meet the goal, and the range.

    The range begins at the last packet before it, so that it holds a crossing between two packets.
    """
    first = 1 + MOST_SEEDS * world
    engine, seeds = engines.get("simulation"), range(first, first + FIRST_SEEDS)
    problem = problem_of(scenario(name), engine.name)
    found = search(problem, engine, Options(seeds, MOST_SEEDS, jobs=1)).buffer
    if found is None:
        raise RuntimeError(f"{name}, world {world}: no buffer meets the goal")
    values = (name, "search", world, found.packets, found.low - 1, found.high)
    return dict(zip(COLUMNS, values, strict=True))


def truth(name: str, number: int) -> dict[str, object]:
    """Return the row of the buffer at which the seeds of all worlds together meet the goal."""
    seeds = range(1, 1 + SEEDS * number)
    link = curve_of(scenario(name), engines.get("simulation"), Options(seeds, len(seeds)))
    packets = LINKS[name][-1]
    excess = {packets: pooled(link.fine(packets))}
    step = 1 if excess[packets] > 0 else -1
    while (excess[packets] > 0) == (step > 0):
        packets += step
        excess[packets] = pooled(link.fine(packets))
    over = packets if excess[packets] <= 0 else packets + 1
    share = excess[over - 1] / (excess[over - 1] - excess[over])
    at = (over - 1) * (over / (over - 1)) ** share
    return dict(zip(COLUMNS, (name, "truth", -1, at, over - 1, over), strict=True))


def summary(rows: Sequence[dict[str, str]]) -> None:
    """Print coverage of the truth, and how far from it the crossings and the answers are."""
    for name in LINKS:
        of = {how: _logs(rows, name, how) for how in WAYS}
        true = _logs(rows, name, "truth")[0, 0]
        for how, logs in of.items():
            if not len(logs):
                continue
            held = np.mean((logs[:, 1] <= true) & (true <= logs[:, 2]))
            off = logs[:, 0] - true
            error = off.std(ddof=1) / math.sqrt(len(off)) if len(off) > 1 else math.nan
            print(
                f"{name}, {how}: {len(logs)} worlds, {100 * held:.1f} % hold {math.exp(true):.1f} "
                f"packets; bias {100 * off.mean():+.2f} % +- {196 * error:.2f} %"
            )


def _logs(rows: Sequence[dict[str, str]], name: str, how: str) -> np.ndarray:
    mine = [row for row in rows if (row["link"], row["measure"]) == (name, how)]
    values = [[float(row[end]) for end in ("packets", "low", "high")] for row in mine]
    return np.log(np.array(values).reshape(-1, 3))


def main(path: Path, number: int) -> None:
    """Play the worlds that the file does not have yet, and sum up."""
    known: set[tuple[str, str, int]] = set()
    if path.exists():
        with path.open(newline="") as file:
            known = {(r["link"], r["measure"], int(r["world"])) for r in csv.DictReader(file)}
    for name in LINKS:
        if (name, "truth", -1) not in known:
            _append(path, [truth(name, number)])
    for world in range(number):
        for name in LINKS:
            for how in WAYS:
                if (name, how, world) in known or (how == "measured" and "loss" in name):
                    continue
                row = searched(name, world) if how == "search" else crossing(name, how, world)
                _append(path, [row])
    with path.open(newline="") as file:
        summary(list(csv.DictReader(file)))


def _append(path: Path, rows: Sequence[dict[str, object]]) -> None:
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
