"""Figure 5: drop rates and numbers of flows for which the drops need no buffer."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Literal

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = ["protocol", "printed", "ours", "right"]
NOTES = [
    "Flows from which inequality 12 holds at φ = 1 % and ρ = 0.99. ours: with the paper's z of "
    "2.05 and Table III's printed deviations; right: Φ(z) = 0.99 and Table II integrated.",
    "A row is in its band if ours is the print, to the flow; where none is printed, if ours "
    "lies between RENO and BIC, as the text has it; and if right is the number in published.toml.",
    "With the right figures CTCP asks for more flows than RENO, so RENO is no upper bound.",
    "BIC: 31 flows with the right z and the printed deviation.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate the curves; needs no run."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    rows = [_row(name, stated) for name in stated["protocols"]]
    reasons = [
        _reason(row, name, stated) for row, name in zip(rows, stated["protocols"], strict=True)
    ]
    return Reproduction(
        artefact="yang-2013/fig5",
        title="Yang et al. 2013, Figure 5: flows that keep drops below 1 % with any buffer",
        columns=COLUMNS,
        rows=rows,
        reasons=reasons,
        checks=[
            Check(FORMULA, not reason, row[1] is not None)
            for row, reason in zip(rows, reasons, strict=True)
        ],
        notes=NOTES,
        picture=_picture(stated),
    )


def _row(name: str, stated: dict[str, Any]) -> list[Any]:
    ours, right = (_flows(name, stated, printed) for printed in (True, False))
    return [stated["protocols"][name], stated["flows"].get(name), ours, right]


def _flows(name: str, stated: dict[str, Any], as_printed: bool) -> int:
    h = forebay.laws.heterogeneous
    a = h.characteristic_value(name, as_printed=as_printed)
    needed = h.flows_for_drops(a, stated["phi"], stated["rho"], as_printed=as_printed)
    return math.ceil(float(needed))


def _reason(row: list[Any], name: str, stated: dict[str, Any]) -> str:
    _, printed, ours, right = row
    if printed is not None and ours != printed:
        return f"{ours} flows, printed {printed}"
    if not stated["flows"]["bic"] <= ours <= stated["flows"]["reno"]:
        return f"{ours} flows: not between BIC and RENO"
    expected = stated["right"][name]
    return "" if right == expected else f"right {right}, not {expected}"


def _picture(stated: dict[str, Any]) -> Picture:
    h = forebay.laws.heterogeneous
    n = np.arange(10, 2001, 10)
    lines = []
    for name, label in stated["protocols"].items():
        a = h.characteristic_value(name)
        rates = 100.0 * h.drop_rate_of_any_buffer(a, n, stated["rho"])
        # CTCP's curve lies on RENO's.
        kind: Literal["dashes", "line"] = "dashes" if name == "ctcp" else "line"
        lines.append(Line(n.tolist(), rates.tolist(), label, kind))
    printed = stated["flows"]
    lines.append(Line(list(printed.values()), [100 * stated["phi"]] * 2, "printed", "dots"))
    return Picture([Panel(lines, "flows", "drop rate φ, % (holds above a curve)")])
