"""Table II: growth functions, beta and epochs, checked against each other."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
W_MAX, RTT = 400.0, 0.1  # an example; the comparison does not depend on it
COLUMNS = [
    "protocol",
    "β",
    "ends at",
    "T printed",
    "T ours",
    "starts at",
    "print",
]
NOTES = [
    f"T in seconds for w_max = {W_MAX:g} packets and R = {RTT * 1e3:g} ms. The growth function "
    "ends at that share of w_max, and with T as printed starts at that share.",
    "CUBIC: with the printed T the printed growth function starts at (1-β) w_max, not at β w_max: "
    "β stands where 1-β is meant. Table III follows from the right T.",
    "BIC: the growth function ends at 0.9 w_max, after the first round trip of its climb.",
    "CTCP: t/32 counts t in round trips.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Derive the table from the growth functions; needs no run."""
    rows = tomllib.loads((HERE / "published.toml").read_text("utf-8"))["rows"]
    made = [_row(row) for row in rows]
    return Reproduction(
        artefact="yang-2013/table2",
        title="Yang et al. 2013, Table II: window growth functions and epochs",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        prints_wrong=[cells[-1] == "wrong" for cells, _ in made],
        checks=[
            Check(OURS if cells[-1] == "wrong" else FORMULA, not reason, cells[-1] == "right")
            for cells, reason in made
        ],
        notes=NOTES,
        picture=_picture(rows),
    )


def _row(row: dict[str, Any]) -> tuple[list[Any], str]:
    growth = forebay.laws.heterogeneous.PROTOCOLS[row["protocol"]]
    scale = W_MAX ** row["power"] * RTT ** row["rtt_power"]
    printed, ours = row["coefficient"] * scale, float(growth.epoch(W_MAX, RTT))
    start, end = (float(growth.window(t, W_MAX, RTT)) / W_MAX for t in (0.0, ours))
    same = abs(printed - ours) <= row["half"] * scale + 1e-9
    as_printed = start if same else _start_of_cubic(printed)
    wrong = abs(as_printed - row["beta"]) > 0.01
    said = "wrong" if wrong else "right"
    cells = [row["name"], row["beta"], end, printed, ours, as_printed, said]
    return cells, _reason(row["beta"], start, same, wrong)


def _start_of_cubic(epoch: float) -> float:
    """0.4 (t - T)^3 + w_max at t = 0, over w_max."""
    return 1.0 - 0.4 * epoch**3 / W_MAX


def _reason(beta: float, start: float, same: bool, wrong: bool) -> str:
    if abs(start - beta) > 1e-9:
        return "our growth function does not start at β w_max"
    if not same and not wrong:
        return "our epoch is not the printed one, and the print contradicts itself nowhere"
    return ""


def _picture(rows: list[dict[str, Any]]) -> Picture:
    lines = []
    for row in rows:
        growth = forebay.laws.heterogeneous.PROTOCOLS[row["protocol"]]
        epoch = float(growth.epoch(W_MAX, RTT))
        share = [i / 100 for i in range(101)]
        windows = [float(growth.window(s * epoch, W_MAX, RTT)) / W_MAX for s in share]
        lines.append(Line(share, windows, row["name"]))
    return Picture([Panel(lines, "t / T", "w(t) / w_max")])
