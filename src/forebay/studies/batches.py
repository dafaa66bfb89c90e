"""Runs a plan in batches: what a worker gets at once, large enough to be worth its way."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from random import Random

import numpy as np

from forebay.engines.base import Engine, ReplicatingEngine
from forebay.errors import ForebayError
from forebay.progress import Progress, enter
from forebay.scenario import Scenario
from forebay.store import MetricRow, Store, code_of
from forebay.studies.plan import Asked, Cell, Plan, of_values
from forebay.studies.work import Batch, Done, Failure, Item, Sizes, Workers, rows_of
from forebay.words import format_number

LONGEST_S, SHORTEST_S = 1.0, 0.05
"""Predicted seconds of a batch. A worker that dies costs its batch again."""
_PARTS = 8
"""Batches that each worker gets of a short study, so that all end at about the same time."""

Missing = Mapping[tuple[int, int], Sequence[int]]
"""Seeds that are to run, by the index of the question and of the cell."""


def batches(
    plan: Plan, missing: Missing, workers: int, sizes: Sizes | None = None
) -> Iterator[Batch]:
    """Yield all work.

    Cells whose flows are drawn alike stay together, with a part of the seeds, so that each seed's
    flows are drawn once for all of them.
    """
    target = min(LONGEST_S, max(SHORTEST_S, _price_s(plan, missing) / (workers * _PARTS)))
    for index, asked in enumerate(plan.asked):
        groups: dict[object, list[tuple[Cell, Sequence[int]]]] = {}
        for (a, c), seeds in missing.items():
            if a == index:
                cell = plan.cells[c]
                groups.setdefault(_drawn(cell.scenario, seeds), []).append((cell, seeds))
        for cells in groups.values():
            yield from _of_group(plan, asked, cells, target, sizes)


def _price_s(plan: Plan, missing: Missing) -> float:
    parts = ((seeds, plan.asked[a], plan.cells[c]) for (a, c), seeds in missing.items())
    return sum(len(seeds) * plan.price_s(asked, cell) for seeds, asked, cell in parts)


def _drawn(scenario: Scenario, seeds: Sequence[int]) -> object:
    """Return what the draw of the flows depends on, and the seeds."""
    kinds = (scenario.traffic, scenario.measure)
    return (repr(kinds), float(scenario.link.capacity), tuple(seeds))


def _of_group(
    plan: Plan,
    asked: Asked,
    cells: Sequence[tuple[Cell, Sequence[int]]],
    target: float,
    sizes: Sizes | None,
) -> Iterator[Batch]:
    """Yield the batches of cells with the same flows and seeds: all cells with some seeds each."""
    prices = [plan.price_s(asked, cell) for cell, _ in cells]
    for some in _cut(cells, prices, target):
        price = sum(plan.price_s(asked, cell) for cell, _ in some)
        seeds = some[0][1]
        step = max(1, min(len(seeds), int(target / price)))
        step = ceil(len(seeds) / ceil(len(seeds) / step))
        for first in range(0, len(seeds), step):
            part = tuple(seeds[first : first + step])
            items = tuple(Item(cell.scenario, part) for cell, _ in some)
            made_by = code_of(asked.engine)
            yield Batch(asked, made_by, items, price * len(part), sizes, plan.seeds)


def _cut(
    cells: Sequence[tuple[Cell, Sequence[int]]], prices: Sequence[float], target: float
) -> Iterator[list[tuple[Cell, Sequence[int]]]]:
    """Yield cells in parts of about the price of a batch for one seed."""
    part: list[tuple[Cell, Sequence[int]]] = []
    held = 0.0
    for cell, price in zip(cells, prices, strict=True):
        if part and held + price > target:
            yield part
            part, held = [], 0.0
        part.append(cell)
        held += price
    if part:
        yield part


_AHEAD = 2
"""Batches for each worker that are given out before the first one is done."""
_LOOK_S = 0.1
Watches = Callable[[Iterable[MetricRow]], str]
"""Sees rows as they are stored; returns what to show beside the rate."""


@dataclass(slots=True)
class Count:
    """What a call has made."""

    ran: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)


class Running:
    """One pass over batches.

    ``runs``, ``whole_s``: rows and predicted seconds of all batches, for progress.
    """

    def __init__(
        self,
        store: Store,
        workers: Workers,
        runs: int,
        whole_s: float,
        progress: Progress | None,
        watch: Watches,
    ) -> None:
        self.count = Count()
        self._store, self._workers, self._watch = store, workers, watch
        self._runs, self._seen, self._shared = runs, "", False
        self._todo: deque[Batch] = deque()
        self._whole_s, self._done_s = max(whole_s, 1e-9), 0.0
        self._progress, self._begun = progress, time.monotonic()

    def run(self, batches: Iterable[Batch]) -> None:
        """Make all batches. However it ends, what was finished is stored and counted."""
        running = dict[Future[Done], Batch]()
        self._todo.extend(batches)
        try:
            while True:
                self._give(running)
                if not running:
                    break
                finished, _ = wait(running, _LOOK_S, FIRST_COMPLETED)
                self._take(finished, running)
                if not finished:
                    self._workers.look()
                self._report()
        except BaseException:
            self._workers.stop()
            self._keep([future for future in running if future.done()])
            raise
        self._workers.close()

    def _give(self, running: dict[Future[Done], Batch]) -> None:
        """Give out batches."""
        while len(running) < _AHEAD * self._workers.count:
            batch = self._next()
            if batch is None:
                return
            try:
                running[self._workers.submit(batch)] = batch
            except Exception as error:
                self._todo.appendleft(batch)
                self._revive(error, running)

    def _next(self) -> Batch | None:
        """Return the next batch; without what another process has stored, if there is one."""
        while self._todo:
            batch = self._todo.popleft()
            if not self._shared:
                return batch
            left = self._unstored(batch)
            self._done_s += batch.price_s - left.price_s
            if left.items:
                return left
        return None

    def _unstored(self, batch: Batch) -> Batch:
        """Return a batch without the rows that are stored by now."""
        asked, items = batch.asked, []
        with self._store.rows() as rows:
            for item in batch.items:
                known = rows.seeds(item.scenario.sha256(), asked.engine, asked.code)
                if left := tuple(seed for seed in item.seeds if seed not in known):
                    items.append(replace(item, seeds=left))
        rest = replace(batch, items=tuple(items))
        return replace(rest, price_s=batch.price_s * rest.runs / batch.runs)

    def _take(self, finished: Iterable[Future[Done]], running: dict[Future[Done], Batch]) -> None:
        """Store what is made; after a death, begin the rest anew."""
        for future in finished:
            batch = running.pop(future, None)
            if batch is None:
                continue
            try:
                done = future.result()
            except ForebayError:
                raise
            except (Exception, CancelledError) as error:
                self._todo.appendleft(batch)
                self._revive(error, running)
            else:
                self._store_one(done)
                self._done_s += batch.price_s

    def _revive(self, error: BaseException, running: dict[Future[Done], Batch]) -> None:
        """Let workers begin anew; what the dead ones had finished is stored, the rest is lost."""
        self._workers.revive(error)
        for future in [future for future in running if future.done() and _is_good(future)]:
            self._done_s += running.pop(future).price_s
            self._store_one(future.result())
        self._todo.extendleft(running.values())
        running.clear()

    def _keep(self, finished: Iterable[Future[Done]]) -> None:
        """Store what was finished when the study was stopped."""
        for future in finished:
            if _is_good(future):
                self._store_one(future.result())

    def _store_one(self, done: Done) -> None:
        added = self._store.add_rows(done.rows)
        if added < len(done.rows) and not self._shared:
            self._shared = True  # another process runs the same study: go on elsewhere
            Random(os.getpid()).shuffle(self._todo)
        self.count.ran += added
        self.count.failed += sum(failure.runs for failure in done.failures)
        self.count.failures += done.failures
        self._seen = self._watch(done.rows)

    def _report(self) -> None:
        if self._progress is None:
            return
        rate = self.count.ran / max(time.monotonic() - self._begun, 1e-3)
        done = f"{self.count.ran:,} of {self._runs:,} runs"
        enter(self._progress, f"running, {done}, {rate:.3g} a second{self._seen}")
        self._progress(min(1.0, self._done_s / self._whole_s))


def _is_good(future: Future[Done]) -> bool:
    return not future.cancelled() and future.exception() is None


_WATCHED = "link.bottleneck.utilization"
_AT_ONCE = 64


def run_plan(
    plan: Plan,
    path: Path,
    open_workers: Callable[[], Workers],
    *,
    engines: dict[str, Engine],
    sizes: Sizes | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    only_plan: bool = False,
) -> Count:
    """Run what is missing, and return what was made.

    Parameters
    ----------
    engines : by name, to read replications that another verb stored.
    announce : called once, before the first run, with the plan in one line.
    only_plan : announce, and run nothing.
    """
    say = announce or (lambda _: None)
    with Store(path) as store:
        if only_plan:  # what is only counted would say nothing of its content
            store.check()
        missing = missing_of(plan, store)
        if not only_plan:
            missing = _from_replications(plan, store, missing, engines)
        runs, price_s = sum(map(len, missing.values())), _price_s(plan, missing)
        if not runs:
            say(plan.announce(runs, price_s))
            return Count()
        workers = open_workers()
        say(plan.announce(runs, price_s / workers.at_once, workers.where))
        if only_plan:
            workers.close()
            return Count()
        running = Running(store, workers, runs, price_s, progress, Worst(plan))
        try:
            running.run(batches(plan, missing, workers.count, sizes))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(running.count.ran) from None
        return running.count


def missing_of(plan: Plan, store: Store) -> Missing:
    """Return the seeds that have no row; a scenario that two cells have is run once."""
    missing: dict[tuple[int, int], list[int]] = {}
    seen: set[tuple[int, str]] = set()
    with store.rows() as rows:
        for a, asked in enumerate(plan.asked):
            for c, cell in enumerate(plan.cells):
                if (a, cell.sha256) in seen:
                    continue
                seen.add((a, cell.sha256))
                known = rows.seeds(cell.sha256, asked.engine, asked.code)
                if left := [seed for seed in plan.row_seeds if seed not in known]:
                    missing[a, c] = left
    return missing


def _from_replications(
    plan: Plan, store: Store, missing: Missing, engines: dict[str, Engine]
) -> Missing:
    """Make rows of replications that another verb stored; return what is still missing."""
    left = dict(missing)
    pending: list[MetricRow] = []
    for (a, c), seeds in missing.items():
        asked, cell = plan.asked[a], plan.cells[c]
        engine = engines[asked.engine]
        if asked.ask != "run" or not isinstance(engine, ReplicatingEngine):
            continue
        with store.rows() as rows:
            some = [s for s in seeds if s in rows.replicated(cell.sha256, asked.engine, asked.code)]
        if not some:
            continue
        known = store.replications(cell.scenario, asked.engine, asked.code, some)
        pending += rows_of(asked, engine, cell.scenario, known)
        rest = [seed for seed in seeds if seed not in known]
        left.pop((a, c))
        if rest:
            left[a, c] = rest
        if len(pending) >= _AT_ONCE:
            store.add_rows(pending)
            pending = []
    store.add_rows(pending)
    return left


class Worst:
    """Sees rows as they come, and says which cell uses the link least so far."""

    def __init__(self, plan: Plan) -> None:
        self._values = {cell.sha256: cell.values for cell in plan.cells}
        self._names = [name.rpartition(".")[2] for name in plan.grid.names]
        self._least, self._said = 2.0, ""

    def __call__(self, rows: Iterable[MetricRow]) -> str:
        """Return the words for the progress: ", least 93 % used at size = 64 packets"."""
        for row in rows:
            at = next((i for i, (name, _) in enumerate(row.columns) if name == _WATCHED), None)
            if at is None:
                continue
            used = float(np.frombuffer(row.numbers, "<f8")[at])
            if used < self._least:
                self._least = used
                where = of_values(self._names, self._values[row.sha256])
                self._said = f", least {format_number(used, '.1%')} used at {where}"
        return self._said
