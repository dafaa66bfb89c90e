"""What a worker does: it makes the rows of a batch, and stores nothing.

A batch travels to a thread, a process or another machine, and rows come back as bytes.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from forebay import engines
from forebay.engines.base import Engine, ReplicatingEngine, Replication
from forebay.errors import ForebayError, Words, words
from forebay.store import MetricRow, code_of, to_blob, to_numbers
from forebay.studies.columns import OF_RECOMMENDED, columns_of_size
from forebay.studies.errors import StudyError
from forebay.studies.plan import Asked

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.progress import Progress
    from forebay.scenario import Scenario

Sizes = Callable[[Engine, "Scenario", range, float, "Progress | None"], "SizeResult"]
"""Sizes a link with these seeds within so many predicted seconds; progress may stop it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A scenario and the seeds to run."""

    scenario: Scenario
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Work for one worker.

    Attributes
    ----------
    made_by : digest of the code that makes replications, here; a worker with other code refuses.
    sizes : answers a sizing.
    price_s : predicted seconds.
    """

    asked: Asked
    made_by: str
    items: tuple[Item, ...]
    words: Words
    price_s: float
    sizes: Sizes | None = None
    all_seeds: range = range(1, 2)

    @property
    def runs(self) -> int:
        """Number of rows that it makes."""
        return sum(len(item.seeds) for item in self.items)


@dataclass(frozen=True, slots=True)
class Failure:
    """Runs of a scenario that an engine could not make, and why."""

    scenario: Scenario
    runs: int
    why: str
    exit_status: int


@dataclass(slots=True)
class Done:
    """What a batch has made."""

    rows: list[MetricRow] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


WALL = "wall_s"
"""Column of seconds: of the call that made a row, over its replications. No other depends on the
machine."""
_of_thread = threading.local()


def engine_of(name: str, memory_limit: str | None) -> Engine:
    """Return this thread's engine, which keeps the flows that it has drawn."""
    kept: dict[tuple[str, str | None], Engine] = _of_thread.__dict__.setdefault("engines", {})
    if (name, memory_limit) not in kept:
        made = engines.get(name)
        limit = made.capabilities.limit_memory
        if memory_limit is not None and limit is not None:
            from forebay.scenario import DataSize

            limit(int(DataSize.parse(memory_limit)))
        kept[name, memory_limit] = made
    return kept[name, memory_limit]


def make_batch(batch: Batch, progress: Progress | None = None) -> Done:
    """Make the rows of a batch; a scenario that an engine refuses is a failure of its own.

    Raises
    ------
    StudyError
        This worker has other code than the one that asks.
    """
    if code_of(batch.asked.engine) != batch.made_by:
        wrong = f"a worker has another forebay ({_version()}) than the one that asks"
        raise StudyError(wrong, "install the same version on every worker")
    done = Done()
    with words(batch.words):
        for item in batch.items:
            if progress is not None:
                progress(0.0)
            try:
                done.rows += _rows(batch, item, progress)
            except ForebayError as error:
                failure = Failure(item.scenario, len(item.seeds), str(error), error.exit_status)
                done.failures.append(failure)
    return done


def _rows(batch: Batch, item: Item, progress: Progress | None) -> list[MetricRow]:
    asked, scenario = batch.asked, item.scenario
    engine = engine_of(asked.engine, asked.memory_limit)
    if asked.ask == "size":
        assert batch.sizes is not None, "the plan of a sizing has it"
        # The time of a sizing is an entry of the grid, not an option of the command.
        in_grid = Words.FILE if batch.words is Words.COMMAND_LINE else batch.words
        with words(in_grid, exactly=True):
            found = batch.sizes(engine, scenario, batch.all_seeds, asked.budget_s, progress)
        return _as_rows(asked, scenario, {seed: (_of_sizing(found), None) for seed in item.seeds})
    if isinstance(engine, ReplicatingEngine):
        begun = time.perf_counter()
        made = engine.replications(scenario, item.seeds, jobs=1, progress=progress)
        each_s = (time.perf_counter() - begun) / len(item.seeds)
        return rows_of(asked, engine, scenario, made, each_s)
    # An engine of ours that makes no replications has one answer for every seed.
    every = item.seeds if engines.is_of_others(asked.engine) else item.seeds[:1]
    of_seed = {seed: _of_run(engine, scenario, seed, progress) for seed in every}
    return _as_rows(
        asked, scenario, {s: (of_seed.get(s, of_seed[every[0]]), None) for s in item.seeds}
    )


def _of_run(
    engine: Engine, scenario: Scenario, seed: int, progress: Progress | None
) -> dict[str, float]:
    """Return the numbers of one seed's answer."""
    outcome = engine.run(scenario, (seed,), jobs=1, progress=progress)
    return outcome.to_row(intervals=True) | {WALL: outcome.provenance.wall_s}


def rows_of(
    asked: Asked,
    engine: ReplicatingEngine,
    scenario: Scenario,
    made: Mapping[int, Replication],
    wall_s: float | None = None,
) -> list[MetricRow]:
    """Return the rows of replications, each of which took ``wall_s``.

    Without it they are in the store already, and their processor time is what is known.
    """
    found = {
        seed: (
            _of_one(engine, scenario, each, wall_s), None if wall_s is None else to_blob(each)
        )
        for seed, each in made.items()
    }  # fmt: skip
    return _as_rows(asked, scenario, found)


def _of_one(
    engine: ReplicatingEngine, scenario: Scenario, made: Replication, wall_s: float | None
) -> dict[str, float]:
    """Return the numbers of one replication: those of `forebay.run` with its seed alone."""
    from forebay.search.settled import settled_or_said

    took_s = made.reading.cpu_s if wall_s is None else wall_s
    outcome: Outcome = settled_or_said(engine.outcome(scenario, [made], took_s), scenario)
    row = outcome.to_row(intervals=True)
    return row | {"packets": made.reading.packets, WALL: took_s}


def _of_sizing(found: SizeResult) -> dict[str, float]:
    """Return the numbers of a sizing; what it has not found is left out.

    Of an AQM they are those of its target or min, in packets at line rate.
    """
    least, best = columns_of_size("buffer" if found.aqm is None else found.aqm.parameter)
    row: dict[str, float] = {}
    for name, size in ((least, found.buffer), (best, found.recommended)):
        for part in ("packets", "bytes", "seconds", "low", "high"):
            if (value := getattr(size, part, None)) is not None:
                row[f"{name}.{part}"] = value
    here = next((each for each in found.price if each.why == "recommended"), None)
    if here is not None:
        p99 = None if here.queue_delay_s is None else here.queue_delay_s.p99
        for part, metric in zip(
            OF_RECOMMENDED, (here.utilization, here.loss_rate, p99), strict=True
        ):
            if metric is not None:
                row[f"{best}.{part}"] = metric.value
    if found.largest is not None:
        row[f"{least}.largest"] = found.largest
    if found.aqm is not None:
        row["limit.packets"] = found.aqm.limit_packets
    for goal in found.goals:
        if goal.reached is not None:
            row[f"goal.{goal.name}.reached"] = goal.reached.value
    return row | {"exit_status": found.exit_status}


def _as_rows(
    asked: Asked, scenario: Scenario, found: Mapping[int, tuple[dict[str, float], bytes | None]]
) -> list[MetricRow]:
    sha, document = scenario.sha256(), json.dumps(scenario.to_dict())
    rows = []
    for seed, (row, blob) in found.items():
        key = (sha, document, asked.engine, asked.code, _version(), seed)
        rows.append(MetricRow(*key, *to_numbers(row), blob))
    return rows


@cache
def _version() -> str:
    import forebay

    return forebay.__version__
