"""Where a study runs, and what a worker does: it makes the rows of a batch, and stores nothing.

A batch travels to a thread, a process or another machine, and rows come back as bytes.

It runs in threads or processes here, or on the workers of a Dask cluster. Simulation leaves the
interpreter to other threads, so threads suffice while the Python between two simulations, about a
tenth of a short run, fits into one processor. Beyond that there are processes.
"""

import contextlib
import json
import logging
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from typing import Any

import forebay
from forebay import engines
from forebay.effort import Effort
from forebay.engines.base import Engine, ReplicatingEngine, Replication
from forebay.errors import ForebayError
from forebay.outcome import Outcome, SizeResult
from forebay.outcome.settling import without_intervals
from forebay.packages import import_package
from forebay.progress import Progress
from forebay.scenario import DataSize, Scenario
from forebay.store import MetricRow, code_of, to_blob, to_numbers
from forebay.studies.columns import OF_RECOMMENDED, columns_of_size
from forebay.studies.errors import StudyError
from forebay.studies.plan import Asked
from forebay.words import Fact, Notation

Sizes = Callable[[Engine, "Scenario", range, float, Effort], "SizeResult"]
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
        engine = engines.get(name)
        limit = engine.capabilities.limit_memory
        if memory_limit is not None and limit is not None:
            limit(int(DataSize.parse(memory_limit)))
        kept[name, memory_limit] = engine
    return kept[name, memory_limit]


def make_batch(batch: Batch, progress: Progress | None = None) -> Done:
    """Make the rows of a batch; a scenario that an engine refuses is a failure of its own.

    Raises StudyError: this worker has other code than the one that asks.
    """
    if code_of(batch.asked.engine) != batch.made_by:
        raise StudyError("study.other-version", version=_version())
    done = Done()
    for item in batch.items:
        if progress is not None:
            progress(0.0)
        try:
            done.rows += _rows(batch, item, progress)
        except ForebayError as error:  # its cell is written in a grid
            why = error.worded(Notation.FILE)
            done.failures.append(Failure(item.scenario, len(item.seeds), why, error.exit_status))
    return done


def _rows(batch: Batch, item: Item, progress: Progress | None) -> list[MetricRow]:
    asked, scenario = batch.asked, item.scenario
    engine, effort = engine_of(asked.engine, asked.memory_limit), Effort(jobs=1, progress=progress)
    if asked.ask == "size":
        assert batch.sizes is not None, "the plan of a sizing has it"
        answer = batch.sizes(engine, scenario, batch.all_seeds, asked.budget_s, effort)
        return _as_rows(asked, scenario, {seed: (_of_sizing(answer), None) for seed in item.seeds})
    if isinstance(engine, ReplicatingEngine):
        begun = time.perf_counter()
        replications = engine.replications(scenario, item.seeds, effort)
        each_s = (time.perf_counter() - begun) / len(item.seeds)
        return rows_of(asked, engine, scenario, replications, each_s)
    # An engine of ours that makes no replications has one answer for every seed.
    every = item.seeds if engines.is_of_others(asked.engine) else item.seeds[:1]
    of_seed = {}
    for seed in every:
        outcome = engine.run(scenario, (seed,), effort)
        of_seed[seed] = outcome.to_row(intervals=True) | {WALL: outcome.provenance.wall_s}
    alike = {seed: (of_seed.get(seed, of_seed[every[0]]), None) for seed in item.seeds}
    return _as_rows(asked, scenario, alike)


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
    by_seed: dict[int, tuple[dict[str, float], bytes | None]] = {}
    for seed, replication in made.items():
        took_s = replication.reading.cpu_s if wall_s is None else wall_s
        # The numbers of `forebay.run` with this seed alone.
        outcome: Outcome = without_intervals(engine.outcome(scenario, [replication], took_s))
        row = outcome.to_row(intervals=True)
        row |= {"packets": replication.reading.packets, WALL: took_s}
        by_seed[seed] = row, None if wall_s is None else to_blob(replication)
    return _as_rows(asked, scenario, by_seed)


def _of_sizing(answer: SizeResult) -> dict[str, float]:
    """Return the numbers of a sizing; what it has not found is left out.

    Of an AQM they are those of its target or min, in packets at line rate.
    """
    least, best = columns_of_size("buffer" if answer.aqm is None else answer.aqm.parameter)
    row: dict[str, float] = {}
    for name, size in ((least, answer.buffer), (best, answer.recommended)):
        for part in ("packets", "bytes", "seconds", "low", "high"):
            if (value := getattr(size, part, None)) is not None:
                row[f"{name}.{part}"] = value
    here = next((price for price in answer.price if price.why == "recommended"), None)
    if here is not None:
        p99 = None if here.queue_delay_s is None else here.queue_delay_s.p99
        metrics = (here.utilization, here.loss_rate, p99)
        for part, metric in zip(OF_RECOMMENDED, metrics, strict=True):
            if metric is not None:
                row[f"{best}.{part}"] = metric.value
    if answer.largest is not None:
        row[f"{least}.largest"] = answer.largest
    if answer.aqm is not None:
        row["limit.packets"] = answer.aqm.limit_packets
    for goal in answer.goals:
        if goal.reached is not None:
            row[f"goal.{goal.name}.reached"] = goal.reached.value
    return row | {"exit_status": answer.exit_status}


def _as_rows(
    asked: Asked, scenario: Scenario, by_seed: Mapping[int, tuple[dict[str, float], bytes | None]]
) -> list[MetricRow]:
    sha, document = scenario.sha256(), json.dumps(scenario.to_dict())
    rows = []
    for seed, (row, blob) in by_seed.items():
        key = (sha, document, asked.engine, asked.code, _version(), seed)
        rows.append(MetricRow(*key, *to_numbers(row), blob))
    return rows


@cache
def _version() -> str:
    return forebay.__version__


MOST_THREADS = 4
_CONNECT_S, _LOOK_S, _SILENCE_S = 4.0, 2.0, 5.0
"""For the scheduler; between looks at its workers; without one until that is said."""
_POLL_S = 0.1
_MOST_DEATHS = 20
"""Workers that may die one after the other without a batch between them."""


class Workers(ABC):
    """Makes batches; `count` of them at a time."""

    count: int
    where: Fact
    """Such as "2 cores"."""

    @property
    def at_once(self) -> int:
        """Batches that can go on at the same time."""
        return min(self.count, os.cpu_count() or 1)

    @abstractmethod
    def submit(self, batch: Batch) -> Future[Done]:
        """Begin a batch."""

    @abstractmethod
    def stop(self) -> None:
        """End at once: what is not finished is given up."""

    @abstractmethod
    def close(self) -> None:
        """Close after all batches are done."""

    def look(self) -> None:  # noqa: B027
        """Raise what ends the study because nobody works on it, which only a cluster can know."""

    def revive(self, error: BaseException) -> None:
        """Begin anew after workers died, or raise what ends the study."""
        raise error


def here(jobs: int, most_bytes: float, limit_bytes: int) -> Workers:
    """Return workers of this machine: as many as fit into the memory limit together."""
    fit = max(1, int(limit_bytes / most_bytes)) if most_bytes else jobs
    if jobs > MOST_THREADS:
        return Processes(jobs)
    return Threads(min(jobs, fit))


class _Here(Workers):
    """Workers of this machine: a pool of so many."""

    _pool: Executor

    def __init__(self, count: int) -> None:
        cores = min(count, os.cpu_count() or 1)
        self.count, self.where = count, Fact("plan.cores", cores=cores)

    def close(self) -> None:
        """Close after all batches are done."""
        self._pool.shutdown()


class Threads(_Here):
    """Threads of this process."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(count, "forebay-study")

    def submit(self, batch: Batch) -> Future[Done]:
        """Begin a batch, in the context of the caller."""
        return self._pool.submit(copy_context().run, make_batch, batch, self._look)

    def _look(self, _: float) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt

    def stop(self) -> None:
        """End the runs at their next report."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


class Processes(_Here):
    """Processes of this machine. If one dies, a new pool makes its batch again."""

    _pool: ProcessPoolExecutor

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._deaths = 0
        self._pool = self._open()

    def _open(self) -> ProcessPoolExecutor:
        # Not forked: another thread of the caller could hold a lock.
        return ProcessPoolExecutor(self.count, get_context("spawn"), _begin, (os.getpid(),))

    def submit(self, batch: Batch) -> Future[Done]:
        """Begin a batch.

        A pool of which a process has just died may begin another before it says that it is broken,
        and hand it a pipe that it has closed: an OSError without a number, or a ValueError where
        another pipe has that number by now.
        """
        try:
            future = self._pool.submit(make_batch, batch)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) is not None:
                raise
            raise BrokenExecutor(str(error)) from error
        future.add_done_callback(self._count)
        return future

    def _count(self, future: Future[Done]) -> None:
        if not future.cancelled() and future.exception() is None:
            self._deaths = 0

    def revive(self, error: BaseException) -> None:
        """Open a new pool after a worker died; give up if they die again and again."""
        if not isinstance(error, BrokenExecutor):
            raise error
        self._deaths += 1
        if self._deaths > _MOST_DEATHS:
            raise StudyError("study.deaths", deaths=self._deaths) from None
        self.stop()
        self._pool = self._open()

    def stop(self) -> None:
        """End the processes.

        The pool then fails what is left. It is not told to cancel that, because its thread could
        no longer fail what was cancelled meanwhile (Python 3.11). A process that is killed while it
        writes a result leaves a part of one: the pool's thread waits for the rest until nobody can
        write, and this process could.
        """
        processes = list((self._pool._processes or {}).values())
        results: Any = self._pool._result_queue
        for process in processes:
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        for process in processes:
            with contextlib.suppress(OSError, ValueError, AssertionError):
                process.join()
        if results is not None:  # the pool is not closed yet
            results._writer.close()
        self._pool.shutdown(wait=True)


def _begin(parent: int) -> None:
    """Leave signals to the parent, which ends its workers; end with it if it is killed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Cluster(Workers):
    """The workers of a Dask cluster, whatever started them.

    Parameters
    ----------
    wait_s : how long it may have none, at the beginning or later.
    say : told once, some seconds after the last one left.
    """

    def __init__(self, address: str, wait_s: float, say: Callable[[str], None]) -> None:
        Client = import_package("a cluster", "distributed").Client
        for name in ("client", "core", "utils"):  # a scheduler that dies is one line, by `revive`
            logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError):
            raise StudyError("study.no-scheduler", address=address) from None
        self._address, self._wait_s, self._say = address, wait_s, say
        self._seen_s, self._looked_s, self._told = time.monotonic(), 0.0, False
        self.count = 0
        self._pool: Executor = self._client.get_executor(pure=False)
        try:
            while not self.count:
                self.look()
                time.sleep(0.0 if self.count else _POLL_S)
        except BaseException:
            self.close()
            raise
        self.where = Fact("plan.threads", threads=self.count, address=address)

    def look(self) -> None:
        """Count the workers; say when there are none, and end the study if none comes."""
        now = time.monotonic()
        if now - self._looked_s < _LOOK_S and self.count:
            return
        self._looked_s = now
        with contextlib.suppress(Exception):  # a scheduler that is gone fails the batches
            if count := sum(self._client.nthreads().values()):
                self.count, self._seen_s, self._told = count, now, False
                return
        silent_s = now - self._seen_s
        if silent_s >= self._wait_s:
            raise StudyError("study.no-worker", address=self._address, silent_s=silent_s)
        if silent_s >= _SILENCE_S and not self._told:
            self._told = True
            waiting = Fact(
                "study.waiting", address=self._address, silent_s=silent_s, wait_s=self._wait_s
            )
            self._say(str(waiting))

    def submit(self, batch: Batch) -> Future[Done]:
        """Begin a batch; Dask gives it to another worker if its own one dies."""
        return self._pool.submit(make_batch, batch)

    def stop(self) -> None:
        """Cancel what is not finished."""
        self.close()

    def close(self) -> None:
        """Leave the cluster, which goes on."""
        with contextlib.suppress(Exception):  # a scheduler that died cannot be left
            self._pool.shutdown(wait=False)
        with contextlib.suppress(Exception):
            self._client.close(timeout=0.5)

    @property
    def at_once(self) -> int:
        """Batches that can go on at the same time: the cluster's cores are not ours."""
        return self.count

    def revive(self, error: BaseException) -> None:
        """End the study: Dask has tried other workers already, or its scheduler is gone."""
        why = " ".join(str(error).split())[:200] or Fact("study.scheduler-gone")
        raise StudyError("study.cluster", what=type(error).__name__, why=why) from None
