"""``forebay network A --against B``: two designs beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.api import networks
from forebay.cli.output import announce, answered, print_json, progress

if TYPE_CHECKING:
    from forebay import Scenario
    from forebay.api.networks import State

Design = tuple[str, "Scenario"]


def compare(first: Design, second: Design, growth: float | None, as_json: bool) -> None:
    """Solve both designs with each link down alone, and print them beside each other."""
    with progress("designs") as update:
        found = networks.compare_designs(
            first[1], second[1], growth=growth, progress=update, expect=announce("designs")
        )
    names = _names(first[0], second[0])
    document = {
        "schema": 1, "designs": [first[0], second[0]],
        "demands": [
            {"growth": each.growth, "demand_bps": each.demand_bps, "overloaded_failures":
             [each.overloaded(0)[0], each.overloaded(1)[0]],
             "states": [_row(row) for row in each.rows]}
            for each in found
        ],
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    from forebay.report import print_designs

    print_designs(names, document["demands"])
    answered()


def _row(row: State) -> dict[str, Any]:
    states = [None if side.state is None else side.state._asdict() for side in row.sides]
    return {"link": row.link, "designs": states}


def _names(first: str, second: str) -> tuple[str, str]:
    """Return short names of two files: without their folders, if they then differ."""
    short = Path(first).stem, Path(second).stem
    return short if short[0] != short[1] else (first, second)
