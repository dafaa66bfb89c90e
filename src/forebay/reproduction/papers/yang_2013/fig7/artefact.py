"""Figure 7: the z-score that remains if a delay bound limits the buffer."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = ["protocol", "γ, no buffer", "z there", "z at γ = 1", "τ-q ours", "τ-q right"]
NOTES = [
    "ours: τ lost without a buffer in the paper's reading of z (q = 0.75 at z = 0), printed 0.24; "
    "right: P(W >= BDP) is one half at z = 0. The other columns are right: Φ(z) = 0.99.",
    "A row is in its band if z is 0 ± 0.05 without a buffer and z_τ with all of it, and if both "
    "losses of τ round to 0.24 and 0.49.",
    "The caption calls the curve a lower bound of z; by inequality 18 it is an upper one.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate the curves; needs no run."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    rows = [_row(name, stated) for name in stated["protocols"]]
    reasons = [_reason(row, stated) for row in rows]
    return Reproduction(
        artefact="yang-2013/fig7",
        title="Yang et al. 2013, Figure 7: the z-score that a smaller buffer leaves",
        columns=COLUMNS,
        rows=rows,
        reasons=reasons,
        checks=[Check(FORMULA, not reason, published=True) for reason in reasons],
        notes=NOTES,
        picture=_picture(stated),
    )


def _row(name: str, stated: dict[str, Any]) -> list[Any]:
    lowest = _lowest(name, stated)
    lost = [
        float(stated["tau"] - _kept(name, _lowest(name, stated, printed), stated, printed))
        for printed in (True, False)
    ]
    ends = [float(_z(name, gamma, stated)) for gamma in (lowest, 1.0)]
    return [stated["protocols"][name], lowest, *(round(z, 9) + 0.0 for z in ends), *lost]


def _reason(row: list[Any], stated: dict[str, Any]) -> str:
    _, _, bare, whole, ours, right = row
    if abs(bare - stated["z_at_no_delay"]) > stated["z_half"]:
        return f"z = {bare:.3f} without a buffer"
    if abs(whole - float(forebay.laws.heterogeneous.z_score(stated["tau"]))) > 1e-6:
        return f"z = {whole:.3f} with the whole buffer"
    for lost, expected in ((ours, "reduction_at_no_delay"), (right, "right_reduction")):
        if abs(lost - stated[expected]) > stated["half"]:
            return f"τ falls by {lost:.3f}, not {stated[expected]}"
    return ""


def _value(name: str, as_printed: bool) -> Any:
    return forebay.laws.heterogeneous.characteristic_value(name, as_printed=as_printed)


def _lowest(name: str, stated: dict[str, Any], as_printed: bool = False) -> float:
    """γ without a buffer: BDP / (BDP + B_l)."""
    h, a = forebay.laws.heterogeneous, _value(name, as_printed)
    needed = h.for_utilization(1.0, a, stated["flows"], stated["tau"], as_printed=as_printed)
    return float(h.share_kept(0.0, needed, 1.0))


def _z(name: str, gamma: Any, stated: dict[str, Any], as_printed: bool = False) -> Any:
    h, a = forebay.laws.heterogeneous, _value(name, as_printed)
    return h.z_kept(gamma, a, stated["flows"], stated["tau"], as_printed=as_printed)


def _kept(name: str, gamma: float, stated: dict[str, Any], as_printed: bool) -> float:
    h, a = forebay.laws.heterogeneous, _value(name, as_printed)
    left = h.probability_kept(gamma, a, stated["flows"], stated["tau"], as_printed=as_printed)
    return float(left)


def _picture(stated: dict[str, Any]) -> Picture:
    lines = []
    for name, label in stated["protocols"].items():
        gamma = np.linspace(_lowest(name, stated), 1.0, 51)
        lines.append(Line(gamma.tolist(), _z(name, gamma, stated).tolist(), label))
    return Picture([Panel(lines, "γ, share of BDP + B", "z-score left")])
