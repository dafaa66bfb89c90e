"""Recorded testbed runs of an artefact, in ``measured.toml`` of its folder::

    [[run]]
    flows = 100                     # the key of the artefact's cell
    packets = 64
    seed = 1
    utilization = 0.9543            # readings: fractions and SI units
    kernel = "6.18.44"
    date = 2026-11-22
    scenario_sha256 = "…"
    [run.gate]                      # readings of the run's timing limits, which were met
    lateness_p99_s = 5.1e-5

A campaign takes up to an hour of real time, so each run is written as soon as it is done, and
recorded runs are not repeated. A run that misses its timing limits is not written.
"""

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomli_w

from forebay.engines.testbed.errors import GateFailed as GateFailed
from forebay.files.atomic import replacing
from forebay.outcome import Metric, Outcome
from forebay.outcome.statistics import over_replications
from forebay.progress import Progress, part

Key = Mapping[str, str | int | float]
_HEAD = (
    "# Written by `forebay reproduce … --testbed`, a table a run; not meant for editing by hand."
)
_FRACTIONS = ("utilization", "loss_rate", "jain")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of an artefact.

    Attributes
    ----------
    key : its name among the artefact's cells.
    play : called with a seed and a progress callback; runs the testbed and returns what is to be
        recorded, usually by `facts`.
    """

    key: Key
    play: Callable[[int, Progress | None], Mapping[str, Any]]


class Measured:
    """The content of a folder's ``measured.toml``; empty if there is no such file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "measured.toml"
        text = self._path.read_text() if self._path.exists() else ""
        self.runs: list[dict[str, Any]] = tomllib.loads(text).get("run", [])

    def of(self, key: Key) -> list[dict[str, Any]]:
        """Return the runs of one cell."""
        return [run for run in self.runs if key.items() <= run.items()]

    def metric(self, key: Key, name: str) -> Metric | None:
        """Return the mean over a cell's runs and its 95 % interval; None without runs."""
        return over_runs(name, [run[name] for run in self.of(key) if name in run])

    def note(self, column: str = "Exp. ours") -> str:
        """Return when and on which kernel a column's runs were made."""
        if not self.runs:
            return f"{column}: not measured (forebay reproduce … --testbed, as root)."
        dates = sorted({str(run["date"]) for run in self.runs})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        kernels = " and ".join(sorted({run["kernel"] for run in self.runs}))
        return (
            f"{column}: recorded from the testbed, Linux {kernels}, {when}, {len(self.runs)} runs "
            "that passed its gate, with the 95 % interval over the runs of a row."
        )

    def put(self, key: Key, seed: int, read: Mapping[str, Any]) -> None:
        """Record a run atomically; it replaces an earlier run of this seed."""
        # Reads the file again, because other processes may have recorded runs.
        same = {**key, "seed": seed}
        runs = Measured(self._path.parent).runs
        self.runs = [*(run for run in runs if not same.items() <= run.items()), {**same, **read}]
        with replacing(self._path) as file:
            file.write(f"{_HEAD}\n\n{tomli_w.dumps({'run': self.runs})}".encode())


def over_runs(name: str, values: Sequence[float]) -> Metric | None:
    """Return the mean of a quantity over runs and its 95 % interval; None without runs."""
    return over_replications(values, (0.0, 1.0 if name in _FRACTIONS else math.inf))


def record(
    folder: Path,
    cells: Iterable[Cell],
    *,
    seeds: Sequence[int],
    progress: Progress | None = None,
    again: bool = False,
) -> list[str]:
    """Run each cell once for each seed, seed after seed, and record it; skip recorded runs.

    Raises EngineUnavailable: the testbed cannot run on this machine.

    Parameters
    ----------
    again : bool
        Repeat recorded runs too.

    Returns
    -------
    list of str
        A line for each run that missed its timing limits; it is not recorded.
    """
    measured, failed = Measured(folder), []
    every = list(cells)
    runs = [(cell, seed) for seed in seeds for cell in every]
    missing = [
        (cell, seed) for cell, seed in runs if again or not measured.of({**cell.key, "seed": seed})
    ]
    for place, (cell, seed) in enumerate(missing):
        try:
            read = cell.play(seed, part(progress, place, len(missing)))
        except GateFailed as error:
            name = ", ".join(f"{name} {value}" for name, value in cell.key.items())
            failed.append(f"{name}, seed {seed}: {error}")
        else:
            measured.put(cell.key, seed, read)
    return failed


def facts(outcome: Outcome, link: str = "bottleneck") -> dict[str, Any]:
    """Return the record of one testbed replication: readings of a link, and of timing limits.

    ``queue_packets`` is the mean number of waiting packets, without the one on the wire.
    """
    read, provenance = outcome.links[link], outcome.provenance.model_dump()
    jain = next((kind.jain for kind in outcome.classes if kind.jain is not None), None)
    numbers = {
        "utilization": read.utilization,
        "loss_rate": read.loss_rate,
        "queue_packets": read.queue_packets.mean if read.queue_packets else None,
        "queue_delay_s": read.queue_delay_s.mean if read.queue_delay_s else None,
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
