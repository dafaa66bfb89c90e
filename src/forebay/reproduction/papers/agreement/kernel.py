"""The simulator's Linux profile against the Linux kernel, whose runs are recorded."""

import math
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import (
    LINK,
    OURS,
    Check,
    Comparison,
    Measured,
    Reproduction,
    Row,
    Work,
    artefact,
    facts,
    over_runs,
)
from forebay.reproduction import Cell as Run
from forebay.reproduction.papers.appenzeller_2004 import line_card

HERE = Path(__file__).resolve().parent
CELLS, OFFLOAD, SHARES = HERE / "cells", HERE / "offload", HERE / "shares"
QUANTITIES = {  # names in measured.toml: in tables, and their band's in cells.toml
    "utilization": ("utilization, %", "utilization_points"),
    "loss_rate": ("loss, %", "loss_share"),
    "queue_packets": ("mean queue, packets", "queue_share"),
    "bbr_share": ("BBR's share, %", "bbr_share_points"),
}
QUEUE = "queue_packets"
NAMES = {name: shown for name, (shown, _) in QUANTITIES.items()}
Cell = dict[str, Any]


def stated(folder: Path) -> dict[str, Any]:
    """Return the cells of an artefact, their bands, and why rows miss."""
    return tomllib.loads((folder / "cells.toml").read_text("utf-8"))


def label(cell: Cell) -> str:
    """Return a cell's name in cells.toml's list of misses."""
    names = ("rate_mbps", "flows", "congestion_control", "packets")
    return " ".join(str(cell[name]) for name in names if name in cell)


@dataclass(frozen=True, slots=True)
class Compared(Comparison):
    """One quantity of one cell, by Metrics in SI units; None where it was not measured.

    ``folder`` has the band, in points or as a share of the kernel's value; ``off`` is the kernel
    without segmentation offload, where that is compared, ``runs`` the simulator's replications.
    """

    folder: Path
    cell: Cell
    quantity: str
    kernel: Any
    simulator: Any = None
    off: Any = None
    runs: Sequence[float] = ()

    @property
    def relative(self) -> bool:  # type: ignore[override]
        """Whether the band is in per cent of the kernel's value, not in points."""
        return not QUANTITIES[self.quantity][1].endswith("_points")

    @property
    def band(self) -> float:  # type: ignore[override]
        """Largest allowed difference, in points or per cent."""
        known = float(stated(self.folder)["band"][QUANTITIES[self.quantity][1]])
        return 100 * known if self.relative else known

    @property
    def counts(self) -> bool:
        """Whether offload moves it in the kernel, by more than twice the band."""
        moved = self._between(self.off)
        return moved is not None and abs(moved) > 2 * self.band

    @property
    def apart(self) -> float | None:
        """The simulator less the kernel, in points or per cent of the kernel's value."""
        return self._between(self.simulator)

    @property
    def noise(self) -> float:
        """Standard error of `apart`: the kernel's runs vary as the simulator's replications do."""
        of = statistics.stdev(self.runs) if len(self.runs) > 1 else math.inf
        error = 100 * of * math.sqrt(1 / len(self.runs) + 1 / self.kernel.n) if self.runs else of
        return error / float(self.kernel.value) if self.relative else error

    @property
    def told(self) -> bool:
        """Whether there are runs enough on both sides to tell which side of the band it is."""
        return self.apart is not None and abs(abs(self.apart) - self.band) >= 2 * self.noise

    @property
    def untold(self) -> str:
        """The sentence on a number whose side of the band is not told."""
        times = "once" if self.kernel.n == 1 else f"{self.kernel.n} times"
        name = f"{label(self.cell)}, {NAMES[self.quantity]}"
        return (
            f"{name}: {self.apart or 0.0:+.2f} {self.unit}, band ±{self.band:g}; the kernel ran "
            f"{times}, so that it is told to ±{self.noise:.2g} (one standard error)"
        )

    def _between(self, value: Any) -> float | None:
        if value is None or self.kernel is None:
            return None
        away = self.away(float(value.value), float(self.kernel.value))
        return away if self.relative else 100 * away

    @property
    def miss(self) -> Mapping[str, Any]:
        """Why it misses, by its name in cells.toml."""
        missed: dict[str, dict[str, str]] = stated(self.folder).get("miss", {})
        return missed.get(f"{label(self.cell)} {self.quantity}", {})

    def shown(self, metric: Any) -> Any:
        """Return a metric in the table's unit."""
        return metric if self.quantity == QUEUE else percent(metric)

    def row(self, names: Sequence[Any], metrics: Sequence[Any]) -> Row:
        """Return its row in a table."""
        shown = [self.shown(metric) for metric in metrics]
        check = Check(OURS, not self.reason, published=False)
        cells = [*names, NAMES[self.quantity], *shown, *self.ends]
        return Row(cells, self.reason, [check], self.cause)


def read(outcome: forebay.Outcome) -> dict[str, Any]:
    """Return the quantities of an outcome."""
    link = outcome.links[LINK]
    return {
        "utilization": link.utilization,
        "loss_rate": link.loss_rate,
        "queue_packets": link.queue_packets and link.queue_packets.mean,
        "bbr_share": bbr_share(outcome),
    }


def bbr_share(outcome: forebay.Outcome) -> Any:
    """Return BBR's share of the goodput beside CUBIC; None where there is one control."""
    if not outcome.classes:
        return None
    of = (outcome.classes[0].controllers or {}).get("bbr")
    return None if of is None else of.goodput_share


def _reproduction(
    work: Work,
    rows: Sequence[Row],
    notes: Sequence[str],
    picture: Picture | None,
    unjudged: Sequence[str] = (),
) -> Reproduction:
    page = work.toml("cells.toml")
    page |= {"notes": [*page["notes"], *notes], "labels": page["columns"].index("quantity") + 1}
    return work.of_rows(rows, page, picture=picture, unjudged=unjudged)


KEY = ("flows", "packets", "congestion_control")
OFFLOAD_KEY = ("rate_mbps", "packet_bytes", "flows", "congestion_control", "packets")


def _every(folder: Path) -> list[Cell]:
    return [{"packet_bytes": 1500, **cell} for cell in stated(folder)["cell"]]


def cells_of(folder: Path) -> list[Cell]:
    """Return the key of each cell of an artefact."""
    key = KEY if folder == CELLS else OFFLOAD_KEY
    return [{name: cell[name] for name in key} for cell in _every(folder)]


def _stated(folder: Path, cell: Cell, name: str, otherwise: Any) -> Any:
    """Return what cells.toml states of a cell beside its key."""
    own = next(entry for entry in _every(folder) if entry.items() >= cell.items())
    return own.get(name, otherwise)


# --- eight cells of a dumbbell without offload ---------------------------------------------------


def plain(cell: Cell) -> forebay.Scenario:
    """Return the set-up of Figure 15's testbed runs with this cell's flows."""
    control = f"traffic.0.congestion_control={cell['congestion_control']}"
    return line_card.on_linux(cell["flows"], cell["packets"], control)


def _of_cells() -> list[Run]:
    """Return the cells that are not rows of Figure 15; those are recorded there."""
    return [
        Run(cell, partial(line_card.on_testbed, plain(cell)))
        for cell in cells_of(CELLS)
        if cell["congestion_control"] != "reno"
    ]


def recorded(cell: Cell, quantity: str) -> Any:
    """Return the kernel's value, a Metric in SI units; None if it was not measured."""
    if cell["congestion_control"] != "reno":
        return Measured(CELLS).metric(cell, quantity)
    key = {"flows": cell["flows"], "packets": cell["packets"]}
    return Measured(line_card.FIG15).metric(key, quantity)


def compare(work: Work, cell: Cell) -> list[Compared]:
    """Simulate one cell; return its quantities with the kernel's."""
    times = int(_stated(CELLS, cell, "times", 1))  # replications for each that is asked
    own = read(work.of(times * work.effort.seeds).play(plain(cell)))
    names = ("utilization", "loss_rate", "queue_packets")
    return [Compared(CELLS, cell, name, recorded(cell, name), own[name]) for name in names]


@artefact(testbed=_of_cells)
def cells(work: Work) -> Reproduction:
    """Simulate each cell and compare it with the kernel's record."""
    judged = [pair for cell, part in work.each(cells_of(CELLS)) for pair in compare(part, cell)]
    names = ("flows", "congestion_control", "packets")
    rows = [e.row([e.cell[name] for name in names], (e.kernel, e.simulator)) for e in judged]
    notes = [
        Measured(line_card.FIG15).note("kernel, reno (appenzeller-2004/fig15)"),
        Measured(CELLS).note("kernel, the others"),
    ]
    panels = [_equal(judged, name) for name in names_of(judged)]
    return _reproduction(work, rows, notes, Picture(panels, columns=3))


def names_of(judged: Sequence[Compared]) -> list[str]:
    """Return the quantities that occur, in the order of `NAMES`."""
    return [name for name in NAMES if any(pair.quantity == name for pair in judged)]


def _equal(judged: Sequence[Compared], quantity: str) -> Panel:
    """The simulator against the kernel, with the line of equality and the band around it."""
    seen = [e for e in judged if e.quantity == quantity and e.apart is not None]
    groups: dict[str, list[Compared]] = {}
    for pair in seen:
        name = f"{pair.cell['flows']} {pair.cell['congestion_control']}"
        groups.setdefault(name, []).append(pair)
    band = _band(seen)
    lines = [*band, *(_dots(own, group, band[0].x) for group, own in groups.items())]
    log: Any = "" if band and not seen[0].relative else "xy"
    return Panel(lines, "kernel", "simulator", title=NAMES[quantity], log=log)


def _dots(seen: Sequence[Compared], group: str, ends: Sequence[float]) -> Line:
    """Return a group's points; an interval that is wider than the band's axis ends with it."""

    def bounds(metric: Any) -> tuple[float, float]:
        known = metric.low is not None and metric.high is not None
        low, high = (metric.low, metric.high) if known else (metric.value, metric.value)
        return max(low, min(ends)), min(high, max(ends))

    x = [pair.shown(pair.kernel) for pair in seen]
    y = [pair.shown(pair.simulator) for pair in seen]
    return Line(
        [metric.value for metric in x], [metric.value for metric in y], group, "dots",
        x_bounds=[*map(bounds, x)], y_bounds=[*map(bounds, y)],
    )  # fmt: skip


def _band(seen: Sequence[Compared]) -> list[Line]:
    values = [pair.shown(m).value for pair in seen for m in (pair.kernel, pair.simulator)]
    if not values:
        return []
    band = seen[0].band
    if seen[0].relative:
        ends = [min(values) / 1.3, max(values) * 1.3]
        bounds = [(x * (1 - band / 100), x * (1 + band / 100)) for x in ends]
    else:
        ends = [min(values) - band, min(max(values) + band, 100.0)]
        bounds = [(x - band, x + band) for x in ends]
    return [Line(ends, ends, "band", "band", y_bounds=bounds), Line(ends, ends, "equal", "dashes")]


# --- hosts with segmentation offload, where it matters -------------------------------------------

MIX = {"cubic": 0.5, "bbr": 0.5}
LEAST_SEEDS = 5


def with_offload(cell: Cell, offload: str, folder: Path = OFFLOAD) -> forebay.Scenario:
    """Return a cell's scenario with offload ``"on"`` or ``"off"``."""
    known = stated(folder)["set_up"][str(cell["rate_mbps"])]
    control = cell["congestion_control"]
    low, high = known["rtt_ms"]
    long = {
        "kind": "long",
        "flows": cell["flows"],
        "congestion_control": MIX if control == "mix" else control,
        "rtt": {"uniform": [f"{low} ms", f"{high} ms"]},
        "start": {"uniform": ["0 s", f"{known['start_s']} s"]},
        "packet": f"{cell['packet_bytes']} B",
        "access_rate": "10 Gbit/s",
        "offload": offload,
    }
    times = {"warmup": "warmup_s", "duration": "duration_s"}
    measure = {name: f"{_stated(folder, cell, of, known[of])} s" for name, of in times.items()}
    return forebay.Scenario.model_validate(
        {
            "name": "Hosts with segmentation offload",
            "link": {"rate": f"{cell['rate_mbps']} Mbit/s"},
            "queue": {"discipline": "drop-tail", "size": f"{cell['packets']} packets"},
            "traffic": [long],
            "measure": measure,
        }
    )


def _switched() -> list[Run]:
    """Return the testbed's runs, on and off in turn."""
    return [
        Run(cell | {"offload": is_on}, partial(_play, with_offload(cell, is_on)))
        for cell in cells_of(OFFLOAD)
        for is_on in ("on", "off")
    ]


def _play(scenario: forebay.Scenario, seed: int, told: Any) -> dict[str, Any]:
    outcome = forebay.run(scenario, "testbed", seed=seed, progress=told)
    share = bbr_share(outcome)
    return ({} if share is None else {"bbr_share": share.value}) | facts(outcome)


def kernel(cell: Cell) -> list[Compared]:
    """Return the quantities of a cell that the kernel has, with offload and without."""
    known = Measured(OFFLOAD)
    known.runs = [_unstalled(run) for run in known.runs]
    pairs = []
    for name in NAMES:
        off, on = (known.metric(cell | {"offload": switch}, name) for switch in ("off", "on"))
        if off and on:
            pairs.append(Compared(OFFLOAD, cell, name, on, off=off))
    return pairs


def _unstalled(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run without its loss if stalls may have made more of it than half the band."""
    gate, most = run["gate"], stated(OFFLOAD)["band"]["loss_share"] / 2
    clean = gate.get("stall_drops", 0) <= most * gate.get("drops", 0)
    return {name: value for name, value in run.items() if clean or name != "loss_rate"}


def simulated(work: Work, cell: Cell) -> list[Compared]:
    """Simulate one cell with offload, seed by seed; return the kernel's quantities with its own."""
    scenario = with_offload(cell, "on")
    runs = work.of(int(_stated(OFFLOAD, cell, "times", 1)) * work.effort.seeds)
    outcomes = runs.over_seeds(lambda part, seed: part.replication(scenario, seed))
    pairs = []
    for pair in kernel(cell):
        seen = [read(outcome)[pair.quantity] for outcome in outcomes]
        values = [metric.value for metric in seen if metric is not None]
        pairs.append(replace(pair, simulator=over_runs(pair.quantity, values), runs=values))
    return pairs


@artefact(testbed=_switched)
def offload(work: Work) -> Reproduction:
    """Simulate each cell that offload moves, and compare it with the kernel's record."""
    wanted = [cell for cell in cells_of(OFFLOAD) if any(pair.counts for pair in kernel(cell))]
    # As many replications if it is quick: with two the verdicts would be chance.
    work = work.of(max(work.effort.seeds, LEAST_SEEDS))
    seen = [pair for cell, part in work.each(wanted) for pair in simulated(part, cell)]
    judged = [pair for pair in seen if pair.counts and pair.told]
    rows = []
    for pair in judged:
        cell = pair.cell
        names = [f"{cell['rate_mbps']} Mbit/s", f"{cell['packet_bytes']} B"]
        names += [cell[name] for name in ("flows", "congestion_control", "packets")]
        rows.append(pair.row(names, (pair.off, pair.kernel, pair.simulator)))
    panels = [_moved(judged, name) for name in names_of(judged)]
    known = {label(pair.cell) for pair in seen}
    said = "offload moves nothing by twice its band in the kernel, so nothing is compared"
    still = [c for c in cells_of(OFFLOAD) if label(c) not in known and kernel(c)]
    return _reproduction(
        work, rows, [Measured(OFFLOAD).note("kernel")],
        Picture(panels, columns=2) if panels else None,
        [*(pair.untold for pair in seen if pair.counts and not pair.told),
         *(f"{label(cell)}: {said}" for cell in still)],
    )  # fmt: skip


def _moved(judged: Sequence[Compared], quantity: str) -> Panel:
    """The simulator and the kernel without offload, both against the kernel with it."""
    seen = [pair for pair in judged if pair.quantity == quantity and pair.simulator is not None]
    at = [pair.shown(pair.kernel).value for pair in seen]
    ends = [min(at, default=0.0), max(at, default=1.0)]
    lines = [
        Line(at, [e.shown(e.simulator).value for e in seen], "simulator, on", "dots"),
        Line(at, [e.shown(e.off).value for e in seen], "kernel, off", "dots"),
        Line(ends, ends, "equal", "dashes"),
    ]
    return Panel(lines, "kernel, offload on", NAMES[quantity], title=NAMES[quantity])


# --- BBR beside CUBIC ----------------------------------------------------------------------------


def _shares() -> list[Run]:
    return [Run(c, partial(_play, with_offload(c, "on", SHARES))) for c in cells_of(SHARES)]


@artefact(testbed=_shares)
def shares(work: Work) -> Reproduction:
    """Simulate half CUBIC and half BBR in each cell; compare BBR's share with the kernel's."""
    work, known = work.of(2 * max(work.effort.seeds, LEAST_SEEDS)), Measured(SHARES)
    judged, rows = [], []
    for cell, part in work.each(cells_of(SHARES)):
        kernel_s, name = known.metric(cell, "bbr_share"), "bbr_share"
        own = bbr_share(part.play(with_offload(cell, "on", SHARES)))
        judged.append(Compared(SHARES, cell, name, kernel_s, own))
        names = [cell[of] for of in ("rate_mbps", "flows", "congestion_control", "packets")]
        rows.append(judged[-1].row(names, (kernel_s, own)))
    picture = Picture([_equal(judged, "bbr_share")])
    return _reproduction(work, rows, [known.note("kernel")], picture)
