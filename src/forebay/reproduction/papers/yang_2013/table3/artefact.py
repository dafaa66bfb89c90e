"""Table III: mean and standard deviation of a window, by integrating Table II."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import forebay
from forebay.reproduction import FORMULA, OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = [
    "protocol",
    "μ printed",
    "μ ours",
    "δ printed",
    "δ ours",
    "δ right",
    "print",
]
NOTES = [
    "Means μ over w_max, deviations δ over the mean; ours by eq. 4 and 5 from Table II's growth "
    "functions, CUBIC's epoch corrected.",
    "A row is in its band if ours rounds to the print or, where the print does not follow from "
    "Table II, to the value worked out by hand in its README.md.",
    "as_printed=True makes the laws use the printed deviations.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Integrate the five growth functions; needs no run."""
    wrong = _toml("errata.toml")
    made = [_row(row, wrong.get(row["protocol"])) for row in _toml("published.toml")["rows"]]
    return Reproduction(
        artefact="yang-2013/table3",
        title="Yang et al. 2013, Table III: mean and standard deviation of the congestion window",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        prints_wrong=[cells[-1] == "wrong" for cells, _ in made],
        checks=[
            Check(OURS if cells[-1] == "wrong" else FORMULA, not reason, cells[-1] == "right")
            for cells, reason in made
        ],
        notes=[*NOTES, *_why(wrong)],
        drawn=("δ printed", "δ ours"),
        unit="standard deviation / mean",
    )


def _row(row: dict[str, Any], wrong: dict[str, Any] | None) -> tuple[list[Any], str]:
    growth = forebay.laws.heterogeneous.PROTOCOLS[row["protocol"]]
    mean, deviation = float(growth.mean()), float(growth.characteristic_value())
    expected = (wrong["deviation"], wrong["half"]) if wrong else _printed(row, "deviation")
    reason = ""
    if not _near(mean, *_printed(row, "mean")):
        reason = f"mean {mean:.4f} does not round to {row['mean']}"
    elif not _near(deviation, *expected):
        reason = f"deviation {deviation:.4f} does not round to {expected[0]}"
    right, said = (wrong["deviation"], "wrong") if wrong else (row["deviation"], "right")
    cells = [row["name"], row["mean"], mean, row["deviation"], deviation, right, said]
    return cells, reason


def _why(wrong: dict[str, Any]) -> list[str]:
    return [f"{name.upper()} is printed wrong: {each['why']}." for name, each in wrong.items()]


def _printed(row: dict[str, Any], what: str) -> tuple[float, float]:
    return row[what], row[f"half_{what}"]


def _near(value: float, printed: float, half: float) -> bool:
    return abs(value - printed) <= half + 1e-12


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text("utf-8"))
