"""The simulator's Linux profile compared with the Linux kernel, on eight cells of a dumbbell."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import (
    OURS,
    Cell,
    Check,
    Measured,
    Progress,
    Reproduction,
    facts,
    record,
    shares,
)
from forebay.reproduction.papers.appenzeller_2004.fig15 import artefact as fig15

HERE = Path(__file__).resolve().parent
COLUMNS = ["flows", "protocol", "packets", "quantity", "kernel", "simulator", "apart", "band"]
NOTES = [
    "Utilization and loss in percent, mean queue in packets that wait; 95 % intervals "
    "over the runs. apart: the simulator less the kernel, in points of utilization, else in "
    "percent of the kernel's value.",
]
KEY = ("flows", "packets", "congestion_control")
NAMES = {  # names in measured.toml
    "utilization": "utilization, %",
    "loss_rate": "loss, %",
    "queue_packets": "mean queue, packets",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One quantity of one cell from both; each is a Metric, or None if not measured."""

    cell: dict[str, Any]
    quantity: str
    kernel: Any
    simulator: Any

    @property
    def apart(self) -> float | None:
        """Difference in percentage points of utilization, else in percent of the kernel's value."""
        if self.kernel is None or self.simulator is None:
            return None
        away = float(self.simulator.value - self.kernel.value)
        return away if self.quantity == "utilization" else 100 * away / float(self.kernel.value)

    @property
    def band(self) -> float:
        """Largest allowed absolute difference."""
        known = _toml()["band"]
        if self.quantity == "utilization":
            return float(known["utilization_points"])
        return 100 * float(known[{"loss_rate": "loss_share"}.get(self.quantity, "queue_share")])

    @property
    def reason(self) -> str:
        """Why it is out of the band; "" if it is not."""
        if self.apart is None:
            return "the kernel was not measured"
        if abs(self.apart) <= self.band:
            return ""
        unit = "points" if self.quantity == "utilization" else "%"
        known = _toml().get("miss", {})
        why = known.get(f"{self.cell['congestion_control']}_{self.quantity}", "cause not known")
        return f"{self.apart:+.2g} {unit}, band ±{self.band:g}; {why}"


def cells() -> list[dict[str, Any]]:
    """Return the key of each cell."""
    return [{name: cell[name] for name in KEY} for cell in _toml()["cell"]]


def times(cell: dict[str, Any]) -> int:
    """Return the simulator's replications of this cell for each requested one."""
    return int(
        next(each.get("times", 1) for each in _toml()["cell"] if cell.items() <= each.items())
    )


def known_misses(cell: dict[str, Any]) -> set[str]:
    """Return the quantities for which cells.toml explains a miss."""
    return {name for name in NAMES if f"{cell['congestion_control']}_{name}" in _toml()["miss"]}


def measure(seeds: int = 3, progress: Progress | None = None, again: bool = False) -> list[str]:
    """Run the cells that are not rows of Figure 15 on the testbed; those are recorded there."""
    own = [Cell(cell, _play(cell)) for cell in cells() if cell["congestion_control"] != "reno"]
    return record(HERE, own, seeds=range(1, seeds + 1), progress=progress, again=again)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate each cell ``seeds`` times and compare it with the kernel's record."""
    rows, own = _recorded()
    parts = shares(progress, len(cells()))
    compared = [each for cell in cells() for each in compare(cell, seeds, jobs, next(parts))]
    reasons = [each.reason for each in compared]
    return Reproduction(
        artefact="agreement/cells",
        title="Simulator (profile linux) against the Linux kernel, 155 Mbit/s, RTTs 80 to 120 ms",
        columns=COLUMNS,
        rows=[_row(each) for each in compared],
        reasons=reasons,
        checks=[Check(OURS, not reason, published=False) for reason in reasons],
        notes=[
            *NOTES,
            rows.note("kernel, reno (appenzeller-2004/fig15)"),
            own.note("kernel, the others"),
        ],
        labels=4,
        picture=_picture(compared),
    )


def scenario_of(cell: dict[str, Any]) -> forebay.Scenario:
    """Return the set-up of Figure 15's testbed runs with this cell's flows."""
    control = f"traffic.0.congestion_control={cell['congestion_control']}"
    return fig15.on_linux(cell["flows"], cell["packets"], control)


def _play(cell: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    scenario = scenario_of(cell)
    return lambda seed, told: facts(forebay.run(scenario, "testbed", seed=seed, progress=told))


def compare(
    cell: dict[str, Any], seeds: int, jobs: int = 0, told: Progress | None = None
) -> list[Compared]:
    """Simulate one cell; return its quantities with the kernel's."""
    asked = scenario_of(cell)
    run = forebay.run(asked, seeds=times(cell) * seeds, jobs=jobs, progress=told)
    link = run.links["bottleneck"]
    queue = None if link.queue_packets is None else link.queue_packets.mean
    return [
        Compared(cell, name, read(recorded(cell, name)), read(value))
        for name, value, read in (
            ("utilization", link.utilization, percent),
            ("loss_rate", link.loss_rate, percent),
            ("queue_packets", queue, lambda metric: metric),
        )
    ]


def recorded(cell: dict[str, Any], quantity: str) -> Any:
    """Return the kernel's value, a Metric in SI units; None if it was not measured."""
    rows, own = _recorded()
    if cell["congestion_control"] != "reno":
        return own.metric(cell, quantity)
    return rows.metric({"flows": cell["flows"], "packets": cell["packets"]}, quantity)


def _recorded() -> tuple[Measured, Measured]:
    return Measured(fig15.HERE), Measured(HERE)


def _row(each: Compared) -> list[Any]:
    cell, apart = each.cell, each.apart
    unit = "points" if each.quantity == "utilization" else "%"
    return [
        cell["flows"],
        cell["congestion_control"],
        cell["packets"],
        NAMES[each.quantity],
        each.kernel,
        each.simulator,
        "" if apart is None else f"{apart:+.2f} {unit}",
        f"±{each.band:g} {unit}",
    ]


def _picture(compared: list[Compared]) -> Picture:
    return Picture([_panel(compared, quantity) for quantity in NAMES], columns=3)


def _panel(compared: list[Compared], quantity: str) -> Panel:
    seen = [e for e in compared if e.quantity == quantity and e.apart is not None]
    groups = dict.fromkeys(_group(each) for each in seen)
    dots = [_dots([e for e in seen if _group(e) == group], group) for group in groups]
    lines, name = [*_band(seen), *dots], NAMES[quantity]
    if quantity == "utilization":
        return Panel(lines, "kernel", "simulator", title=name)
    return Panel(lines, "kernel", "simulator", title=name, log="xy")


def _group(each: Compared) -> str:
    return f"{each.cell['flows']} {each.cell['congestion_control']}"


def _dots(seen: list[Compared], label: str) -> Line:
    return Line(
        [each.kernel.value for each in seen],
        [each.simulator.value for each in seen],
        label,
        "dots",
        x_bounds=[_bounds(each.kernel) for each in seen],
        y_bounds=[_bounds(each.simulator) for each in seen],
    )


def _bounds(metric: Any) -> tuple[float, float]:
    known = metric.low is not None and metric.high is not None
    return (metric.low, metric.high) if known else (metric.value, metric.value)


def _band(seen: list[Compared]) -> list[Line]:
    """The line of equality and the band around it."""
    values = [metric.value for each in seen for metric in (each.kernel, each.simulator)]
    if not values:
        return []
    points = seen[0].quantity == "utilization"
    band = seen[0].band
    ends = (
        [min(values) - band, min(max(values) + band, 100.0)]
        if points
        else [min(values) / 1.3, max(values) * 1.3]
    )
    bounds = [(x - band, x + band) if points else _times(x, band) for x in ends]
    return [Line(ends, ends, "band", "band", y_bounds=bounds), Line(ends, ends, "equal", "dashes")]


def _times(x: float, band: float) -> tuple[float, float]:
    return x * (1 - band / 100), x * (1 + band / 100)


def _toml() -> dict[str, Any]:
    with (HERE / "cells.toml").open("rb") as file:
        return tomllib.load(file)
