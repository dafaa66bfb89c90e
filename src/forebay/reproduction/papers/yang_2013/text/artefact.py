"""The numbers in the paper's text: flows for 1 % of drops, increases of the buffer, compromises."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import forebay
from forebay.reproduction import FORMULA, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = ["number", "printed", "ours", "right"]
NOTES = [
    "ours: with the paper's z = 2.05 at 0.99 (Φ(z) = 2·0.99 - 1, two decimals) and Table III's "
    "printed deviations. right: Φ(z) = 0.99, z = 2.326, and deviations integrated from Table II.",
    "A row is in its band if ours rounds to the print, and the right value to the one "
    "recorded in published.toml.",
    "Of Table IV's three BDPs two are 5.6 % above rate × RTT, the third is 2.6 times that.",
    "With the right figures the claim that BIC needs no more buffer for drops of 0.35 % at 200 "
    "flows does not hold: 37 % more.",
    "Utilization and drops that the paper measured (0.9739, 0.005) are for an engine to reproduce.",
]
TAU = 0.99
UNITS = {"flows": "flows", "increase %": "more buffer, %", "τ lost at no delay": "share of τ lost"}


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate every number twice, as printed and corrected; needs no run."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    made = [_number(each, stated["mix"]) for each in stated["number"]]
    return Reproduction(
        artefact="yang-2013/text",
        title="Yang et al. 2013: the numbers in its text",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        checks=[Check(FORMULA, not reason, published=True) for _, reason in made],
        notes=NOTES,
        units=[UNITS[each["name"].partition(", ")[0]] for each in stated["number"]],
        unjudged=[_bdp(each) for each in stated["bdp"]],
    )


def _number(each: dict[str, Any], mix: dict[str, int]) -> tuple[list[Any], str]:
    ours, right = _calculate(each["name"], mix)
    reason = ""
    if abs(ours - each["printed"]) > each["half"] + 1e-9:
        reason = f"as printed {ours:.6g}, not {each['printed']}"
    elif abs(right - each["right"]) > each["half_right"] + 1e-9:
        reason = f"right {right:.6g}, not {each['right']}"
    return [f"{each['name']} ({each['where']})", each["printed"], ours, right], reason


def _calculate(name: str, mix: dict[str, int]) -> tuple[float, float]:
    h = forebay.laws.heterogeneous
    what, _, of = name.partition(", ")
    if what == "flows":
        protocol, _, rest = of.lower().partition(", ")
        values = _values(protocol)
        right = values[0] if rest else values[1]
        return _flows(values[0], True), _flows(right, False)
    if what == "increase %":
        values, n, phi = _setting(of, mix)
        made = [
            100.0 * float(h.increase_for_drops(a, n, TAU, phi, 0.99, as_printed=printed))
            for a, printed in zip(values, (True, False), strict=True)
        ]
        return made[0], made[1]
    lost = [float(h.reduction_at_zero_delay(TAU, as_printed=printed)) for printed in (True, False)]
    return lost[0], lost[1]


def _setting(of: str, mix: dict[str, int]) -> tuple[tuple[float, float], int, float]:
    """Characteristic values, flows and φ of one of the increases."""
    if of != "mix":
        return _values(of.lower()), 200, 0.0035
    mixed = forebay.laws.heterogeneous.mixed
    return (float(mixed(mix, as_printed=True)), float(mixed(mix))), sum(mix.values()), 0.01


def _values(protocol: str) -> tuple[float, float]:
    """Characteristic value as printed, and integrated."""
    value = forebay.laws.heterogeneous.characteristic_value
    return float(value(protocol, as_printed=True)), float(value(protocol))


def _flows(a: float, as_printed: bool) -> int:
    needed = forebay.laws.heterogeneous.flows_for_drops(a, 0.01, 0.99, as_printed=as_printed)
    return math.ceil(float(needed))


def _bdp(each: dict[str, Any]) -> str:
    ours = 622e6 * each["rtt_ms"] * 1e-3 / 8 / 1e6
    return (
        f"BDP at {each['rtt_ms']} ms (Table IV): {ours:.2f} MB, printed {each['printed']:g}; "
        "rate × RTT has no other reading, and nothing of ours stands behind it"
    )
