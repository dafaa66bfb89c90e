"""The table below eq. 6: utilization of 1, 1.5 and 2 times RTT x C / sqrt(n)."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = [
    "buffer / (RTT C / √n)",
    "printed %",
    "ours %",
    "idle, ppm: printed",
    "ours",
    "right",
    "print",
]
NOTES = [
    "Utilization by eq. 6 for 10,000 flows: a lower bound.",
    "A row is in its band if ours is the print to one unit of its last digit (at 2 the print is "
    "rounded up) or, where the print does not follow from "
    "eq. 6, to the value worked out by hand in its README.md.",
    "laws.utilization.table(as_printed=True) gives the printed figures.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Evaluate eq. 6; needs no run."""
    stated = _toml("published.toml")
    wrong = {each["multiple"]: each for each in _toml("errata.toml")["wrong"]}
    made = [_row(row, wrong.get(row["multiple"]), stated["flows"]) for row in stated["rows"]]
    return Reproduction(
        artefact="appenzeller-2004/eq6",
        title="Appenzeller et al. 2004, section 3.2: utilization by eq. 6 with 10,000 flows",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        prints_wrong=[cells[-1] == "wrong" for cells, _ in made],
        checks=[
            Check(OURS if cells[-1] == "wrong" else FORMULA, not reason, cells[-1] == "right")
            for cells, reason in made
        ],
        notes=[*NOTES, *(f"Printed wrong at {k:g}: {each['why']}." for k, each in wrong.items())],
        drawn=("idle, ppm: printed", "ours"),
        unit="idle share, ppm",
        picture=_picture(stated),
    )


def _percent(multiple: Any, flows: int) -> Any:
    """Eq. 6 in percent, with the buffer in units of the bdp."""
    law = forebay.laws.utilization
    return 100.0 * law.utilization(multiple / math.sqrt(flows), 1.0, flows)


def _row(row: dict[str, Any], wrong: dict[str, Any] | None, flows: int) -> tuple[list[Any], str]:
    ours = float(_percent(row["multiple"], flows))
    expected = wrong or row
    idle = [1e4 * (100.0 - percent) for percent in (row["percent"], ours, expected["percent"])]
    said = "wrong" if wrong else "right"
    cells = [row["multiple"], str(row["percent"]), f"{ours:.7f}", *idle, said]
    if abs(ours - expected["percent"]) <= expected["unit"]:
        return cells, ""
    return cells, f"{ours:.7f} %, not {expected['percent']} %"


def _picture(stated: dict[str, Any]) -> Picture:
    """Idle share of the link, in which the three rows differ visibly."""
    multiples = np.linspace(0.25, 2.25, 81)
    idle = 100.0 - _percent(multiples, stated["flows"])
    rows = stated["rows"]
    printed = [100.0 - row["percent"] for row in rows]
    lines = [
        Line(multiples.tolist(), np.log10(idle).tolist(), "eq. 6", "line"),
        Line([r["multiple"] for r in rows], np.log10(printed).tolist(), "printed", "dots"),
    ]
    return Picture([Panel(lines, "buffer / (RTT C / √n)", "log10 of the idle share, %")])


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text("utf-8"))
