"""Figure 15 of paper A: utilization of an OC3 line card by model, simulation and experiment."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Reproduction, percent

HERE = Path(__file__).resolve().parent
LINK = "bottleneck"
COLUMNS = ["flows", "multiple", "packets", "Model", "eq. 6", "Sim.", "Sim. ours", "Exp."]
NOTES = [
    "Utilization in percent. Model, Sim. and Exp. are as printed; eq. 6 of the same paper and "
    "Sim. ours, with its 95 % interval over the replications, are Forebay's.",
    "A row is in its band if Sim. ours is within ±1.7 points of Sim. at 0.5 bdp/sqrt(n), "
    "±1.3 at 1, ±0.2 at 2, ±0.3 at 3: the most that the paper's Sim. and Exp. differ at that "
    "multiple, plus its measurement accuracy (papers/A/fig15/README.md).",
    "Model is not eq. 6: no reading of eq. 6 that we tried gives the printed column.",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row; utilizations in percent."""

    flows: int
    multiple: float
    packets: int
    model: float
    sim: float
    exp: float


def published() -> list[Row]:
    """Return the printed rows."""
    return [Row(*row) for row in _toml("published.toml")["rows"]]


def band() -> dict[float, float]:
    """Return the allowed difference in points for each multiple."""
    return {each["multiple"]: each["points"] for each in _toml("band.toml")["band"]}


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Callable[[float], None] | None = None
) -> Reproduction:
    """Run all 16 rows with ``seeds`` replications each, in the one set-up of scenario.toml."""
    rows, allowed = published(), band()
    table, verdicts, reasons = [], [], []
    for row, report in zip(rows, _shares(progress, len(rows)), strict=True):
        scenario = forebay.load(HERE / "scenario.toml", _overrides(row))
        model = _utilization(forebay.run(scenario, "theory"))
        ours = _utilization(forebay.run(scenario, seeds=seeds, jobs=jobs, progress=report))
        exact = None if model is None else round(model.value, 1)
        table.append(
            [row.flows, row.multiple, row.packets, row.model, exact, row.sim, ours, row.exp]
        )
        reason = _reason(row, ours, allowed[row.multiple])
        verdicts.append(not reason)
        reasons.append(reason)
    return Reproduction(
        artefact="A.fig15",
        title="Paper A, Figure 15: utilization of an OC3 line card, 155 Mbit/s, 100 ms",
        columns=COLUMNS,
        rows=table,
        verdicts=verdicts,
        reasons=reasons,
        notes=NOTES,
        labels=3,
        unit="%",
    )


def _overrides(row: Row) -> list[str]:
    return [f"traffic.0.flows={row.flows}", f"queue.size={row.packets} packets"]


def _utilization(outcome: forebay.Outcome) -> Any:
    """Return the link's utilization as a Metric in percent, None where not measured."""
    return percent(outcome.links[LINK].utilization)


def _reason(row: Row, ours: Any, allowed: float) -> str:
    """Say by how much a row misses and what is known of the cause; "" where it does not."""
    if ours is None:
        return "utilization was not measured"
    away = ours.value - row.sim
    if abs(away) <= allowed:
        return ""
    side = "above" if away > 0 else "below"
    near = ", though our interval reaches into it" if _reaches(row, ours, allowed) else ""
    return f"{abs(away):.2f} points {side} Sim., band ±{allowed}{near}; {_cause(row)}"


def _reaches(row: Row, ours: Any, allowed: float) -> bool:
    known = ours.low is not None and ours.high is not None
    return known and ours.low <= row.sim + allowed and ours.high >= row.sim - allowed


def _cause(row: Row) -> str:
    for each in _toml("causes.toml").get("cause", []):
        if (row.flows, row.multiple) == (each["flows"], each["multiple"]):
            return str(each["why"])
    return "cause not known"


def _shares(
    progress: Callable[[float], None] | None, rows: int
) -> Iterator[Callable[[float], None] | None]:
    """Yield one progress callback a row, each filling its share of the whole."""
    for i in range(rows):
        yield None if progress is None else _share(progress, i, rows)


def _share(progress: Callable[[float], None], row: int, rows: int) -> Callable[[float], None]:
    return lambda fraction: progress((row + fraction) / rows)


def _toml(name: str) -> dict[str, Any]:
    with (HERE / name).open("rb") as file:
        return tomllib.load(file)
