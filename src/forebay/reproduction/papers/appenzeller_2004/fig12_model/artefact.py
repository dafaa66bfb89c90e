"""Figure 12, the model's curve: the buffer with P(Q > B) = 0.025 by flow length."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
LAWS = {
    "second order": "appenzeller-2004/short-flows",
    "whole": "appenzeller-2004/short-flows-full",
    "exact": "appenzeller-2004/exact-bursts",
}
COLUMNS = ["flow, packets", "by hand", "ours (second order)", "whole", "exact"]
NOTES = [
    "Buffers in packets for P(Q > B) = 0.025 at a load of 0.8: effective bandwidth to second "
    "order, as the paper, and solved whole; and the exact queue of the same bursts.",
    "No number of the curve is printed. A row is in its band if ours is the value worked out by "
    "hand in its README.md, at each of the paper's three rates.",
    "The figure's simulated points are not reproduced here, only the model's curve.",
]
DRAWN = range(1, 91)
"""Flows that never leave slow start (section 4)."""


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Evaluate the laws at every length; needs no run."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    made = [_row(row, stated) for row in stated["rows"]]
    return Reproduction(
        artefact="appenzeller-2004/fig12-model",
        title="Appenzeller et al. 2004, Figure 12: the model's buffer for short flows, load 0.8",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        checks=[Check(OURS, not reason, published=False) for _, reason in made],
        notes=NOTES,
        picture=_picture(stated),
    )


def _row(row: dict[str, Any], stated: dict[str, Any]) -> tuple[list[Any], str]:
    at_rates = [_buffers(row["length"], rate) for rate in stated["rates"]]
    ours = at_rates[0]
    cells = [row["length"], row["packets"], *(ours[name] for name in LAWS)]
    return cells, _reason(at_rates, row, stated["half"])


def _reason(at_rates: list[dict[str, Any]], row: dict[str, Any], half: float) -> str:
    ours = at_rates[0]["second order"]
    if any(other != at_rates[0] for other in at_rates):
        return "the three rates do not need the same buffer"
    if ours is None or abs(ours - row["packets"]) > half + 1e-12:
        return f"{ours} packets, by hand {row['packets']}"
    return ""


def _buffers(length: int, rate: str) -> dict[str, Any]:
    """The buffer by each law, packets."""
    overrides = [f"traffic.0.length={length} packets", f"link.rate={rate}"]
    scenario = forebay.load(HERE / "scenario.toml", overrides)
    said = {answer.law: answer.packets for answer in forebay.laws.for_scenario(scenario)}
    return {name: said[law] for name, law in LAWS.items()}


def _kind(name: str) -> Literal["line", "dashes"]:
    """The exact curve lies on that of the complete series, so one of them is dashed."""
    return "dashes" if name == "exact" else "line"


def _picture(stated: dict[str, Any]) -> Picture:
    found = [_buffers(length, stated["rates"][1]) for length in DRAWN]
    lines = [Line(list(DRAWN), [each[name] for each in found], name, _kind(name)) for name in LAWS]
    rows = stated["rows"]
    by_hand = [row["packets"] for row in rows]
    lines.append(Line([row["length"] for row in rows], by_hand, "by hand", "dots"))
    return Picture([Panel(lines, "length of a flow, packets", "buffer, packets")])
