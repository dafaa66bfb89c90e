"""Runs of the testbed that an artefact has recorded, in ``measured.toml`` of its folder::

    [[run]]
    flows = 100                     # the key: which cell of the artefact this is
    packets = 64
    seed = 1
    utilization = 0.9543            # what was read: fractions and SI units
    kernel = "6.18.44"
    date = 2026-11-22
    scenario_sha256 = "…"
    [run.gate]                      # the readings of the validity gate, which this run has passed
    lateness_p99_s = 5.1e-5

A campaign takes the better part of an hour of real time, so each run is written as soon as it is
done, and one that is there is not played again. A run that fails the gate is never written.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forebay.engines.testbed.errors import GateFailed
from forebay.outcome import Metric, Outcome, Quantiles
from forebay.outcome.replacing import replacing
from forebay.outcome.statistics import Bounds, over_replications
from forebay.progress import Progress, part

__all__ = ["Cell", "GateFailed", "Key", "Measured", "Metric", "facts", "record"]

Key = Mapping[str, str | int | float]
_HEAD = (
    "# Written by `forebay reproduce … --testbed`, a table a run; not meant for editing by hand.\n"
)
_FRACTION: Bounds = (0.0, 1.0)
_BOUNDS: dict[str, Bounds] = {"utilization": _FRACTION, "loss_rate": _FRACTION, "jain": _FRACTION}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of an artefact.

    Attributes
    ----------
    key : what names it among the artefact's cells.
    play : called with a seed and with whom to tell the fraction done; plays the testbed and
        returns what is to be recorded, most easily by `facts`.
    """

    key: Key
    play: Callable[[int, Progress | None], Mapping[str, Any]]


class Measured:
    """What ``measured.toml`` of a folder holds; nothing where it is not there."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "measured.toml"
        text = self._path.read_text() if self._path.exists() else ""
        self.runs: list[dict[str, Any]] = tomllib.loads(text).get("run", [])

    def of(self, key: Key) -> list[dict[str, Any]]:
        """Return the runs of one cell."""
        return [run for run in self.runs if _is(run, key)]

    def has(self, key: Key, seed: int) -> bool:
        """Whether this run is recorded."""
        return any(run["seed"] == seed for run in self.of(key))

    def metric(self, key: Key, name: str) -> Metric | None:
        """Return the mean over a cell's runs and its 95 % Student-t interval; None for no run."""
        values = [run[name] for run in self.of(key) if name in run]
        return over_replications(values, _BOUNDS.get(name, (0.0, math.inf)))

    def note(self, column: str = "Exp. ours") -> str:
        """Say when, and on which kernel, a column's runs were played."""
        if not self.runs:
            return f"{column}: not measured (forebay reproduce … --testbed, as root)."
        dates = sorted({str(run["date"]) for run in self.runs})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        kernels = " and ".join(sorted({run["kernel"] for run in self.runs}))
        return (
            f"{column}: recorded from the testbed, Linux {kernels}, {when}, {len(self.runs)} runs "
            "that passed its gate, with the 95 % Student-t interval over the runs of a row."
        )

    def put(self, key: Key, seed: int, read: Mapping[str, Any]) -> None:
        """Record one run, in the place of an earlier one of this seed; the file is never half."""
        import tomli_w

        # What others have recorded meanwhile stays.
        self.runs = [run for run in Measured(self._path.parent).runs if not _same(run, key, seed)]
        self.runs.append({**key, "seed": seed, **read})
        with replacing(self._path) as file:
            file.write((_HEAD + "\n" + tomli_w.dumps({"run": self.runs})).encode())


def record(
    folder: Path,
    cells: Iterable[Cell],
    *,
    seeds: Sequence[int],
    progress: Progress | None = None,
    again: bool = False,
) -> list[str]:
    """Play each cell once a seed and record it at once; runs that are recorded are left out.

    Parameters
    ----------
    again : bool
        Play also what is recorded.

    Returns
    -------
    list of str
        A line for each run that failed the gate, and so is not recorded.

    Raises
    ------
    EngineUnavailable
        This machine has no testbed.
    """
    measured, failed = Measured(folder), []
    runs = [(cell, seed) for cell in cells for seed in seeds]
    missing = [(cell, seed) for cell, seed in runs if again or not measured.has(cell.key, seed)]
    for place, (cell, seed) in enumerate(missing):
        try:
            read = cell.play(seed, part(progress, place, len(missing)))
        except GateFailed as error:
            failed.append(f"{_named(cell.key)}, seed {seed}: {error}")
        else:
            measured.put(cell.key, seed, read)
    return failed


def facts(outcome: Outcome, link: str = "bottleneck") -> dict[str, Any]:
    """Return what is recorded of one replication of the testbed: readings of a link, and the gate.

    ``queue_packets`` is the mean number that wait, without the one being sent.
    """
    read, provenance = outcome.links[link], outcome.provenance.model_dump()
    jain = next((each.jain for each in outcome.classes if each.jain is not None), None)
    numbers = {
        "utilization": read.utilization,
        "loss_rate": read.loss_rate,
        "queue_packets": _mean(read.queue_packets),
        "queue_delay_s": _mean(read.queue_delay_s),
        "jain": jain,
    }
    return {
        **{name: metric.value for name, metric in numbers.items() if metric is not None},
        "kernel": provenance["machine"]["kernel"],
        "date": datetime.now(UTC).date(),
        "scenario_sha256": outcome.provenance.scenario_sha256,
        "attempts": 1 + len(provenance["runs"][0]["invalid"]),
        "gate": dict(provenance["runs"][0]["gate"]),
    }


def _mean(quantiles: Quantiles | None) -> Metric | None:
    return None if quantiles is None else quantiles.mean


def _is(run: Mapping[str, Any], key: Key) -> bool:
    return all(run.get(name) == value for name, value in key.items())


def _same(run: Mapping[str, Any], key: Key, seed: int) -> bool:
    return _is(run, key) and run["seed"] == seed


def _named(key: Key) -> str:
    return ", ".join(f"{name} {value}" for name, value in key.items())
