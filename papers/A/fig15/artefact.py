"""Figure 15 of paper A: utilization of an OC3 line card by model, simulation and experiment."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.measured import Cell, Measured, facts, record
from forebay.report import Reproduction, each_with, percent

HERE = Path(__file__).resolve().parent
LINK = "bottleneck"
COLUMNS = [
    "flows", "multiple", "packets", "Model", "eq. 6", "Sim.", "Sim. ours", "Exp.", "Exp. ours",
]  # fmt: skip
EXPERIMENT_POINTS = 2.0
# The testbed's own set-up (README.md): today's Linux, and a run that an afternoon has room for.
TESTBED = [
    "traffic.0.sender=linux",
    "traffic.0.initial_window=10",
    "traffic.0.start={ uniform = ['0 s', '5 s'] }",
    "measure.warmup=15 s",
    "measure.duration=25 s",
]
# Recorded first: papers/agreement holds the simulator against these.
FIRST = [(100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128)]
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
    rows, allowed, measured = published(), band(), Measured(HERE)
    table, reasons = [], []
    for row, report in each_with(progress, rows):
        scenario = forebay.load(HERE / "scenario.toml", _overrides(row))
        model = _utilization(forebay.run(scenario, "theory"))
        ours = _utilization(forebay.run(scenario, seeds=seeds, jobs=jobs, progress=report))
        exact = None if model is None else round(model.value, 1)
        experiment = percent(measured.metric(key(row), "utilization"))
        known = [row.flows, row.multiple, row.packets, row.model]
        table.append([*known, exact, row.sim, ours, row.exp, experiment])
        why = [_reason(row, ours, allowed[row.multiple]), _experiment_reason(row, experiment)]
        reasons.append("; ".join(each for each in why if each))
    return Reproduction(
        artefact="A.fig15",
        title="Paper A, Figure 15: utilization of an OC3 line card, 155 Mbit/s, 100 ms",
        columns=COLUMNS,
        rows=table,
        reasons=reasons,
        notes=[*NOTES, _experiment_note(table), measured.note()],
        labels=3,
        unit="%",
    )


def measure(
    seeds: int = 3, progress: Callable[[float], None] | None = None, again: bool = False
) -> list[str]:
    """Play the rows on the testbed and record each run in measured.toml."""
    rows = sorted(published(), key=lambda row: (row.flows, row.packets) not in FIRST)
    cells = [Cell(key(row), _play(row)) for row in rows]
    return record(HERE, cells, seeds=range(1, seeds + 1), progress=progress, again=again)


def key(row: Row) -> dict[str, int]:
    """Return what names a row in measured.toml."""
    return {"flows": row.flows, "packets": row.packets}


def on_linux(flows: int, packets: int, *more: str) -> forebay.Scenario:
    """Return the testbed's set-up with so many flows and packets that may wait."""
    sizes = [f"traffic.0.flows={flows}", f"queue.size={packets} packets"]
    return forebay.load(HERE / "scenario.toml", [*TESTBED, *sizes, *more])


def _play(row: Row) -> Callable[..., Mapping[str, Any]]:
    scenario = on_linux(row.flows, row.packets)
    return lambda seed, told: facts(forebay.run(scenario, "testbed", seed=seed, progress=told))


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


def _experiment_reason(row: Row, ours: Any) -> str:
    """Say by how much the testbed misses the printed Exp.; "" where it does not or was not run."""
    away = 0.0 if ours is None else ours.value - row.exp
    if abs(away) <= EXPERIMENT_POINTS:
        return ""
    side = "above" if away > 0 else "below"
    cause = _cause(row, "experiment")
    return f"{abs(away):.2f} points {side} Exp., band ±{EXPERIMENT_POINTS:g}; {cause}"


def _experiment_note(table: list[list[Any]]) -> str:
    known = [(row[-2], row[-1].value) for row in table if row[-1] is not None]
    near = sum(abs(ours - printed) <= EXPERIMENT_POINTS for printed, ours in known)
    return (
        f"Exp. ours is within ±{EXPERIMENT_POINTS:g} points of Exp. in {near} of {len(table)} rows "
        f"({len(known)} measured). A row is in if both bands hold; one not measured is not judged."
    )


def _reaches(row: Row, ours: Any, allowed: float) -> bool:
    known = ours.low is not None and ours.high is not None
    return known and ours.low <= row.sim + allowed and ours.high >= row.sim - allowed


def _cause(row: Row, table: str = "cause") -> str:
    for each in _toml("causes.toml").get(table, []):
        if (row.flows, row.multiple) == (each["flows"], each["multiple"]):
            return str(each["why"])
    return "cause not known"


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text("utf-8"))
