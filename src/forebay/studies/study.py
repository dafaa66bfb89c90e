"""Runs a plan: what the store has is not run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.base import Engine, ReplicatingEngine
from forebay.store import MetricRow, Store
from forebay.studies.batches import Count, Running, batches
from forebay.studies.plan import Plan, of_values
from forebay.studies.work import Sizes, rows_of

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.studies.work import Workers

_WATCHED = "link.bottleneck.utilization"
_AT_ONCE = 64
Missing = dict[tuple[int, int], list[int]]


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
    with Store(path) as store:
        if only_plan:  # what is only counted would say nothing of its content
            store.check()
        missing = missing_of(plan, store)
        if not only_plan:
            missing = _from_replications(plan, store, missing, engines)
        runs = sum(map(len, missing.values()))
        price_s = sum(
            len(seeds) * plan.price_s(plan.asked[a], plan.cells[c])
            for (a, c), seeds in missing.items()
        )
        if only_plan or not runs:
            _announce(announce, plan.announce(runs, price_s))
            return Count()
        workers = open_workers()
        _announce(announce, plan.announce(runs, price_s / workers.at_once, workers.where))
        running = Running(store, workers, runs, price_s, progress, Worst(plan))
        try:
            running.run(batches(plan, missing, workers.count, sizes))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(running.count.ran) from None
        return running.count


def _announce(announce: Callable[[str], None] | None, line: str) -> None:
    if announce is not None:
        announce(line)


def missing_of(plan: Plan, store: Store) -> Missing:
    """Return the seeds that have no row; a scenario that two cells have is run once."""
    found: Missing = {}
    seen: set[tuple[int, str]] = set()
    with store.rows() as rows:
        for a, asked in enumerate(plan.asked):
            for c, cell in enumerate(plan.cells):
                if (a, cell.sha256) in seen:
                    continue
                seen.add((a, cell.sha256))
                known = rows.seeds(cell.sha256, asked.engine, asked.code)
                if left := [seed for seed in plan.row_seeds if seed not in known]:
                    found[a, c] = left
    return found


def _from_replications(
    plan: Plan, store: Store, missing: Missing, engines: dict[str, Engine]
) -> Missing:
    """Make rows of replications that another verb stored; return what is still missing."""
    left = dict(missing)
    made: list[MetricRow] = []
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
        made += rows_of(asked, engine, cell.scenario, known)
        rest = [seed for seed in seeds if seed not in known]
        left.pop((a, c))
        if rest:
            left[a, c] = rest
        if len(made) >= _AT_ONCE:
            store.add_rows(made)
            made = []
    store.add_rows(made)
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
                self._said = f", least {used:.1%} used at {where}"
        return self._said
