"""Hosts with segmentation offload: the simulator against the kernel, where offload matters."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import (
    OURS,
    UNEXPLAINED,
    Cell,
    Check,
    Measured,
    Progress,
    Reproduction,
    facts,
    record,
    shares,
)

HERE = Path(__file__).resolve().parent
COLUMNS = [
    "rate", "packet", "flows", "protocol", "packets", "quantity",
    "kernel, off", "kernel, on", "simulator, on", "apart", "band",
]  # fmt: skip
NOTES = [
    "Utilization, loss and BBR's share of the goodput in percent, mean queue in packets that wait; "
    "95 % intervals over the runs. apart: the simulator less the kernel, both with "
    "offload, in points of utilization and share, else in percent of the kernel's value.",
    "A row is a quantity in which the kernel's own means, on and off, differ by more than twice "
    "the band.",
]
KEY = ("rate_mbps", "packet_bytes", "flows", "congestion_control", "packets")
MIX = {"cubic": 0.5, "bbr": 0.5}
NAMES = {  # names in measured.toml
    "utilization": "utilization, %",
    "loss_rate": "loss, %",
    "queue_packets": "mean queue, packets",
    "bbr_share": "BBR's share, %",
}
POINTS = ("utilization", "bbr_share")
"""Quantities whose band is in points; of the others it is a share of the kernel's value."""

Cellular = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """One quantity of one cell, by Metrics in SI units; None where it was not measured."""

    cell: Cellular
    quantity: str
    off: Any
    kernel: Any
    simulator: Any = None

    @property
    def band(self) -> float:
        """Largest allowed difference, in points or per cent."""
        known = _toml()["band"]
        name = {
            "utilization": "utilization_points", "bbr_share": "bbr_share_points",
            "loss_rate": "loss_share", "queue_packets": "queue_share",
        }[self.quantity]  # fmt: skip
        return float(known[name]) * (1 if self.quantity in POINTS else 100)

    @property
    def counts(self) -> bool:
        """Whether offload moves it in the kernel, by more than twice the band."""
        moved = self._away(self.off, self.kernel)
        return moved is not None and abs(moved) > 2 * self.band

    @property
    def apart(self) -> float | None:
        """The simulator less the kernel, in points or per cent of the kernel's value."""
        return self._away(self.simulator, self.kernel)

    def _away(self, value: Any, of: Any) -> float | None:
        if value is None or of is None:
            return None
        away = 100 * float(value.value - of.value)
        return away if self.quantity in POINTS else away / float(of.value)

    @property
    def reason(self) -> str:
        """Why it is out of the band; "" if it is not."""
        if self.apart is None or abs(self.apart) <= self.band:
            return ""
        unit = "points" if self.quantity in POINTS else "%"
        why = self._miss.get("why", "cause not known")
        return f"{self.apart:+.2g} {unit}, band ±{self.band:g}; {why}"

    @property
    def cause(self) -> str:
        """Which of the causes it is out of the band for; "" if it is not."""
        return self._miss.get("cause", UNEXPLAINED) if self.reason else ""

    @property
    def _miss(self) -> dict[str, str]:
        missed: dict[str, dict[str, str]] = _toml().get("miss", {})
        return missed.get(f"{label(self.cell)} {self.quantity}", {})


def cells() -> list[Cellular]:
    """Return the cells' keys."""
    return [
        {"packet_bytes": 1500} | {name: value for name, value in cell.items() if name in KEY}
        for cell in _toml()["cell"]
    ]


def _stated(cell: Cellular, name: str, otherwise: Any) -> Any:
    """Return what cells.toml states of a cell beside its key."""
    of = (
        each for each in _toml()["cell"] if {"packet_bytes": 1500, **each}.items() >= cell.items()
    )
    return next(of).get(name, otherwise)


def label(cell: Cellular) -> str:
    """Return a cell's name in cells.toml's list of misses."""
    return " ".join(
        str(cell[name]) for name in ("rate_mbps", "flows", "congestion_control", "packets")
    )


def scenario_of(cell: Cellular, offload: str) -> forebay.Scenario:
    """Return a cell's scenario with offload ``"on"`` or ``"off"``."""
    known = _toml()["set_up"][str(cell["rate_mbps"])]
    control = cell["congestion_control"]
    low, high = known["rtt_ms"]
    return forebay.Scenario.model_validate(
        {
            "name": "Hosts with segmentation offload",
            "link": {"rate": f"{cell['rate_mbps']} Mbit/s"},
            "queue": {"discipline": "drop-tail", "size": f"{cell['packets']} packets"},
            "traffic": [
                {
                    "kind": "long",
                    "flows": cell["flows"],
                    "congestion_control": MIX if control == "mix" else control,
                    "rtt": {"uniform": [f"{low} ms", f"{high} ms"]},
                    "start": {"uniform": ["0 s", f"{known['start_s']} s"]},
                    "packet": f"{cell['packet_bytes']} B",
                    "access_rate": "10 Gbit/s",
                    "offload": offload,
                }
            ],
            "measure": {
                "warmup": f"{_stated(cell, 'warmup_s', known['warmup_s'])} s",
                "duration": f"{_stated(cell, 'duration_s', known['duration_s'])} s",
            },
        }
    )


def measure(seeds: int = 3, progress: Progress | None = None, again: bool = False) -> list[str]:
    """Run the cells on the testbed, on and off in turn; seed after seed, so that each has some."""
    own = [Cell(cell | {"offload": is_on}, _play(cell, is_on)) for cell, is_on in _switched()]
    failed, parts = [], shares(progress, seeds)
    for seed in range(1, seeds + 1):
        failed += record(HERE, own, seeds=[seed], progress=next(parts), again=again)
    return failed


def _switched() -> Iterator[tuple[Cellular, str]]:
    return ((cell, is_on) for cell in cells() for is_on in ("on", "off"))


def _play(cell: Cellular, offload: str) -> Callable[..., dict[str, Any]]:
    scenario = scenario_of(cell, offload)

    def play(seed: int, told: Progress | None) -> dict[str, Any]:
        outcome = forebay.run(scenario, "testbed", seed=seed, progress=told)
        share = bbr_share(outcome)
        return ({} if share is None else {"bbr_share": share.value}) | facts(outcome)

    return play


def bbr_share(outcome: forebay.Outcome) -> Any:
    """Return BBR's share of the goodput beside CUBIC; None where there is one control."""
    of = (outcome.classes[0].controllers or {}).get("bbr")
    return None if of is None else of.goodput_share


def kernel(cell: Cellular) -> list[Compared]:
    """Return the quantities of a cell that the kernel has, with offload and without."""
    known = Measured(HERE)
    known.runs = [_unstalled(run) for run in known.runs]
    both = {
        name: [known.metric(cell | {"offload": offload}, name) for offload in ("off", "on")]
        for name in NAMES
    }
    return [Compared(cell, name, off, on) for name, (off, on) in both.items() if off and on]


def _unstalled(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run without its loss if stalls may have made more of it than half the band."""
    gate, most = run["gate"], _toml()["band"]["loss_share"] / 2
    clean = gate.get("stall_drops", 0) <= most * gate.get("drops", 0)
    return run if clean else {name: value for name, value in run.items() if name != "loss_rate"}


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate each cell with offload ``seeds`` times and compare it with the kernel's record."""
    wanted = [cell for cell in cells() if any(each.counts for each in kernel(cell))]
    parts = shares(progress, len(wanted))
    seen = [each for cell in wanted for each in compare(cell, seeds, jobs, next(parts))]
    judged = [each for each in seen if each.counts]
    reasons = [each.reason for each in judged]
    return Reproduction(
        artefact="agreement/offload",
        title="Simulator (profile linux, offload on) against the Linux kernel",
        columns=COLUMNS,
        rows=[_row(each) for each in judged],
        reasons=reasons,
        causes=[each.cause for each in judged],
        checks=[Check(OURS, not reason, published=False) for reason in reasons],
        notes=[*NOTES, Measured(HERE).note("kernel")],
        unjudged=_unmoved(seen),
        labels=6,
        picture=_picture(judged),
    )


def compare(
    cell: Cellular, seeds: int, jobs: int = 0, told: Progress | None = None
) -> list[Compared]:
    """Simulate one cell; return the kernel's quantities with its own."""
    runs = int(_stated(cell, "times", 1)) * seeds
    run = forebay.run(scenario_of(cell, "on"), seeds=runs, jobs=jobs, progress=told)
    link = run.links["bottleneck"]
    own = {
        "utilization": link.utilization,
        "loss_rate": link.loss_rate,
        "queue_packets": None if link.queue_packets is None else link.queue_packets.mean,
        "bbr_share": bbr_share(run),
    }
    return [
        Compared(cell, each.quantity, each.off, each.kernel, own[each.quantity])
        for each in kernel(cell)
    ]


def _unmoved(seen: list[Compared]) -> list[str]:
    """Sentences on what offload does not move in the kernel."""
    known = {label(each.cell) for each in seen}
    still = [label(cell) for cell in cells() if label(cell) not in known and kernel(cell)]
    said = "offload moves nothing by twice its band in the kernel, so nothing is compared"
    return [f"{cell}: {said}" for cell in still]


def _shown(each: Compared, metric: Any) -> Any:
    return metric if each.quantity == "queue_packets" else percent(metric)


def _row(each: Compared) -> list[Any]:
    cell, apart = each.cell, each.apart
    unit = "points" if each.quantity in POINTS else "%"
    return [
        f"{cell['rate_mbps']} Mbit/s",
        f"{cell['packet_bytes']} B",
        cell["flows"],
        cell["congestion_control"],
        cell["packets"],
        NAMES[each.quantity],
        *(_shown(each, metric) for metric in (each.off, each.kernel, each.simulator)),
        "" if apart is None else f"{apart:+.2f} {unit}",
        f"±{each.band:g} {unit}",
    ]


def _picture(judged: list[Compared]) -> Picture | None:
    names = [name for name in NAMES if any(each.quantity == name for each in judged)]
    return Picture([_panel(judged, name) for name in names], columns=2) if names else None


def _panel(judged: list[Compared], quantity: str) -> Panel:
    """The simulator and the kernel without offload, both against the kernel with it."""
    seen = [each for each in judged if each.quantity == quantity and each.simulator is not None]
    at = [_shown(each, each.kernel).value for each in seen]
    ends = [min(at, default=0.0), max(at, default=1.0)]
    lines = [
        Line(at, [_shown(each, each.simulator).value for each in seen], "simulator, on", "dots"),
        Line(at, [_shown(each, each.off).value for each in seen], "kernel, off", "dots"),
        Line(ends, ends, "equal", "dashes"),
    ]
    return Panel(lines, "kernel, offload on", NAMES[quantity], title=NAMES[quantity])


def _toml() -> dict[str, Any]:
    with (HERE / "cells.toml").open("rb") as file:
        return tomllib.load(file)
