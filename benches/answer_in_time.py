"""What does a person get within a time, of links whose whole run is known?

    .venv/bin/python benches/answer_in_time.py FILE.csv [SECONDS [FIRST_SEED [FAMILY...]]]

Asks `forebay.search.search` with a budget for the largest link of each family of
docs/explanation/whole-links.csv, in so many seconds of two processors each (60 if not said), and
appends a row a link: the answer beside the buffer at which the whole link, 96 seeds of it that no
answer uses, just met its goal (`scaled_links.py FILE.csv largest`). Time is what this process
computed, halved, so that a loaded machine says the same as an idle one. Links that the file has
with the same first seed are not asked again.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

from scaled_links import FAMILIES, scenario

from forebay import engines, laws
from forebay.search.cost import TooLittleTime
from forebay.search.options import Options
from forebay.search.problem import LawContext, problem_of
from forebay.search.search import search

DATA = Path(__file__).resolve().parents[1] / "docs/explanation/whole-links.csv"
NOT_SCALED = "few cubic"
COLUMNS = (
    "family", "rate_mbps", "budget_s", "first_seed", "packets", "low", "high", "way", "seconds",
    "predicted_s", "whole", "whole_low", "whole_high", "refused",
)  # fmt: skip


def largest() -> dict[str, dict[str, str]]:
    """Return the largest link of each family that was played whole."""
    with DATA.open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: float(row["rate_bps"]))
    found = {row["family"]: row for row in rows}
    return {name: found[name] for name in FAMILIES if name in found and name != NOT_SCALED}


def ask(family: str, whole: dict[str, str], seconds: float, first: int) -> dict[str, object]:
    """Return the row of one link."""
    rate = float(whole["rate_bps"]) / 1e6
    asked, row = scenario(family, rate), dict[str, object](dict.fromkeys(COLUMNS, ""))
    row |= {"family": family, "rate_mbps": f"{rate:g}", "budget_s": f"{seconds:g}"}
    row["first_seed"] = first
    row |= {"whole": whole["packets"], "whole_low": whole["low"], "whole_high": whole["high"]}
    try:
        known = laws.for_scenario(asked), laws.regime_of(asked), laws.assumptions.sawtooths_s
        options = Options(
            range(first, first + 5), 20, jobs=2, budget_s=seconds, progress=lambda _: None,
            clock=lambda: time.process_time() / 2, open_ended=True,
        )  # fmt: skip
        problem = problem_of(asked, "simulation", LawContext(*known))
        found = search(problem, engines.get("simulation"), options)
    except TooLittleTime as refused:
        return row | {"refused": refused.why}
    if found.cost is not None:
        row |= {"seconds": f"{found.cost.spent_s:.1f}"}
        row |= {"predicted_s": f"{found.cost.predicted_s:.1f}"}
    if found.buffer is None:
        return row | {"refused": found.reason}
    row |= {name: getattr(found.buffer, name) for name in ("packets", "low", "high")}
    if found.scaled is not None:
        return row | {"way": f"{found.scaled.factor:.4g} times smaller"}
    return row | {"way": "crossing" if any("95 %" in note for note in found.notes) else "search"}


def main(path: Path, seconds: float, first: int, wanted: list[str]) -> None:
    """Ask what the file does not have yet."""
    known = set()
    if path.exists():
        with path.open(newline="") as file:
            known = {tuple(row[name] for name in COLUMNS[:4]) for row in csv.DictReader(file)}
    links = largest()
    for family in wanted or links:
        rate = float(links[family]["rate_bps"]) / 1e6
        if (family, f"{rate:g}", f"{seconds:g}", str(first)) in known:
            continue
        row = ask(family, links[family], seconds, first)
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
        print(*row.values(), sep=", ", flush=True)


if __name__ == "__main__":
    given = sys.argv[2:]
    seconds = float(given[0]) if given else 60.0
    first = int(given[1]) if len(given) > 1 else 1
    main(Path(sys.argv[1]), seconds, first, given[2:])
