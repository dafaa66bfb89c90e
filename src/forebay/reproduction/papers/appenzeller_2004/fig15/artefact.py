"""Figure 15: utilization of an OC3 line card by model, simulation and experiment."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.report import percent
from forebay.reproduction import (
    KERNEL,
    SIMULATION,
    Cell,
    Check,
    Measured,
    Progress,
    Reproduction,
    Variants,
    facts,
    record,
    shares,
)
from forebay.reproduction.papers.appenzeller_2004 import readings as open_choices

HERE = Path(__file__).resolve().parent
READINGS: dict[str, list[str]] = {
    **open_choices.readings(100),
    "RTTs 89–111 ms": ["traffic.0.rtt={uniform=['89 ms', '111 ms']}"],
}
LINK = "bottleneck"
COLUMNS = [
    "flows", "multiple", "packets", "Model", "eq. 6", "Sim.", "Sim. ours", "Exp.", "Exp. ours",
]  # fmt: skip
EXPERIMENT_POINTS = 2.0
# The testbed's own set-up (README.md): today's Linux, and runs that fit into an afternoon.
TESTBED = [
    "traffic.0.sender=linux",
    "traffic.0.initial_window=10",
    "traffic.0.start={ uniform = ['0 s', '5 s'] }",
    "measure.warmup=15 s",
    "measure.duration=25 s",
]
# Recorded first: agreement/cells compares the simulator with these.
FIRST = [(100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128)]
NOTES = [
    "Utilization in percent. Model, Sim. and Exp. are as printed; eq. 6 of the same paper and "
    "Sim. ours, with its 95 % interval over the replications, are Forebay's.",
    "A row is in its band if Sim. ours is within ±1.7 points of Sim. at 0.5 bdp/sqrt(n), "
    "±1.3 at 1, ±0.2 at 2, ±0.3 at 3: the most that the paper's Sim. and Exp. differ at that "
    "multiple, plus its measurement accuracy (its README.md).",
    "Model is not eq. 6: no reading of eq. 6 that we tried gives the printed column.",
]
SAYS = (
    "The paper leaves the spread of RTTs open, and Sim. can have come from one of ± 11 %: all rows "
    "are in, with an ACK for each packet as its appendix has. So are they with ACKs delayed by "
    "40 ms. It cannot have come from ns-2's own DelAck of 100 ms, and hardly from RTTs of 80 to "
    "120 ms. The verdict stays with the first column."
)


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
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run all 16 rows with ``seeds`` replications each, with the set-up of scenario.toml.

    Without ``quick``, also with the other variants of that set-up.
    """
    rows, allowed, measured = published(), band(), Measured(HERE)
    table: list[list[Any]] = []
    reasons: list[str] = []
    checks: list[Check] = []
    parts = shares(progress, len(rows) * (1 if quick else len(READINGS)))
    for row, report in zip(rows, parts, strict=False):
        scenario = forebay.load(HERE / "scenario.toml", _overrides(row))
        model = _utilization(forebay.run(scenario, "theory"))
        ours = _utilization(forebay.run(scenario, seeds=seeds, jobs=jobs, progress=report))
        exact = None if model is None else round(model.value, 1)
        experiment = percent(measured.metric(key(row), "utilization"))
        known = [row.flows, row.multiple, row.packets, row.model]
        table.append([*known, exact, row.sim, ours, row.exp, experiment])
        why = [_reason(row, ours, allowed[row.multiple]), _experiment_reason(row, experiment)]
        reasons.append("; ".join(each for each in why if each))
        full = _within(100 - row.sim, allowed[row.multiple])
        checks.append(Check(SIMULATION, not why[0], published=True, full_passes=full))
        if experiment is not None:
            full = _within(100 - row.exp, EXPERIMENT_POINTS)
            checks.append(Check(KERNEL, not why[1], published=True, full_passes=full))
    chosen = [row[COLUMNS.index("Sim. ours")] for row in table]
    return Reproduction(
        artefact="appenzeller-2004/fig15",
        title="Appenzeller et al. 2004, Figure 15: utilization of an OC3 line card, RTT 100 ms",
        columns=COLUMNS,
        rows=table,
        reasons=reasons,
        notes=[*NOTES, _carrying(rows, allowed), _experiment_note(table), measured.note()],
        labels=3,
        unit="%",
        checks=checks,
        variants=None if quick else _variants(rows, allowed, chosen, seeds, jobs, parts),
    )


def _carrying(rows: list[Row], allowed: dict[float, float]) -> str:
    """Return a note on the rows that a link which is never idle would fail: only they can fail."""
    carry = [row for row in rows if not _within(100 - row.sim, allowed[row.multiple])]
    named = " and ".join(f"{row.flows} flows at {row.multiple:g}" for row in carry)
    rest = len(rows) - len(carry)
    return f"The test is carried by {named}: a link never idle would pass the other {rest} rows."


def _variants(
    rows: list[Row],
    allowed: dict[float, float],
    chosen: list[Any],
    seeds: int,
    jobs: int,
    parts: Iterator[Progress | None],
) -> Variants:
    """Run every row with the other variants of the set-up."""
    columns = [chosen]
    for sets in list(READINGS.values())[1:]:
        scenarios = [
            forebay.load(HERE / "scenario.toml", [*_overrides(row), *sets]) for row in rows
        ]
        columns.append(
            [
                _utilization(forebay.run(each, seeds=seeds, jobs=jobs, progress=next(parts)))
                for each in scenarios
            ]
        )
    table = [
        (
            f"{row.flows}, {row.multiple:g}, {row.packets}",
            f"{row.sim:g} ± {allowed[row.multiple]:g}",
            [(ours, not _reason(row, ours, allowed[row.multiple])) for ours in found],
        )
        for row, found in zip(rows, zip(*columns, strict=True), strict=True)
    ]
    return Variants(SAYS, list(READINGS), table)


def measure(seeds: int = 3, progress: Progress | None = None, again: bool = False) -> list[str]:
    """Run the rows on the testbed and record each run in measured.toml."""
    rows = sorted(published(), key=lambda row: (row.flows, row.packets) not in FIRST)
    cells = [Cell(key(row), _play(row)) for row in rows]
    return record(HERE, cells, seeds=range(1, seeds + 1), progress=progress, again=again)


def key(row: Row) -> dict[str, int]:
    """Return the key of a row in measured.toml."""
    return {"flows": row.flows, "packets": row.packets}


def on_linux(flows: int, packets: int, *more: str) -> forebay.Scenario:
    """Return the testbed's set-up with this number of flows and this buffer."""
    sizes = [f"traffic.0.flows={flows}", f"queue.size={packets} packets"]
    return forebay.load(HERE / "scenario.toml", [*TESTBED, *sizes, *more])


def _play(row: Row) -> Callable[..., Mapping[str, Any]]:
    scenario = on_linux(row.flows, row.packets)
    return lambda seed, told: facts(forebay.run(scenario, "testbed", seed=seed, progress=told))


def _overrides(row: Row) -> list[str]:
    return [f"traffic.0.flows={row.flows}", f"queue.size={row.packets} packets"]


def _utilization(outcome: forebay.Outcome) -> Any:
    """Return the link's utilization as a Metric in percent, None if not measured."""
    return percent(outcome.links[LINK].utilization)


def _reason(row: Row, ours: Any, allowed: float) -> str:
    """Return by how much a row misses and the known cause; "" if it does not miss."""
    if ours is None:
        return "utilization was not measured"
    away = ours.value - row.sim
    if _within(away, allowed):
        return ""
    side = "above" if away > 0 else "below"
    near = ", though our interval reaches into it" if _reaches(row, ours, allowed) else ""
    return f"{abs(away):.2f} points {side} Sim., band ±{allowed}{near}; {_cause(row)}"


def _within(away: float, allowed: float) -> bool:
    """Whether a difference in points is in the band, including its ends, which are decimals."""
    return abs(away) <= allowed + 1e-9


def _experiment_reason(row: Row, ours: Any) -> str:
    """Return by how much the testbed misses the printed Exp.; "" if it does not or was not run."""
    away = 0.0 if ours is None else ours.value - row.exp
    if _within(away, EXPERIMENT_POINTS):
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
