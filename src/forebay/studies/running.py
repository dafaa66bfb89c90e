"""Runs what a store does not have, and stores every batch as soon as it is made."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.errors import ForebayError
from forebay.progress import enter
from forebay.studies.work import Batch, Done, Failure

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.store import MetricRow, Store
    from forebay.studies.workers import Workers

_AHEAD = 2
"""Batches for each worker that are given out before the first one is done."""
_LOOK_S = 0.1
Watches = Callable[[Iterable["MetricRow"]], str]
"""Sees rows as they are stored; returns what to show beside the rate."""


@dataclass(slots=True)
class Count:
    """What a call has made."""

    ran: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)


class Running:
    """One pass over batches.

    Parameters
    ----------
    runs, whole_s : rows and predicted seconds of all batches, for progress.
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
        self._runs, self._seen = runs, ""
        self._whole_s, self._done_s = max(whole_s, 1e-9), 0.0
        self._progress, self._begun = progress, time.monotonic()

    def run(self, batches: Iterable[Batch]) -> None:
        """Make all batches. However it ends, what was finished is stored and counted."""
        todo, running = iter(batches), dict[Future[Done], Batch]()
        again: deque[Batch] = deque()
        try:
            while True:
                self._give(todo, again, running)
                if not running:
                    break
                finished, _ = wait(running, _LOOK_S, FIRST_COMPLETED)
                self._take(finished, running, again)
                self._report()
        except BaseException:
            self._workers.stop()
            self._keep([made for made in running if made.done()])
            raise
        self._workers.close()

    def _give(
        self, todo: Iterator[Batch], again: deque[Batch], running: dict[Future[Done], Batch]
    ) -> None:
        """Give out batches, first those whose worker died."""
        while len(running) < _AHEAD * self._workers.count:
            batch = again.popleft() if again else next(todo, None)
            if batch is None:
                return
            try:
                running[self._workers.submit(batch)] = batch
            except Exception as error:
                again.append(batch)
                self._revive(error, running, again)

    def _take(
        self,
        finished: Iterable[Future[Done]],
        running: dict[Future[Done], Batch],
        again: deque[Batch],
    ) -> None:
        """Store what is made; after a death, begin the rest anew."""
        for made in finished:
            batch = running.pop(made, None)
            if batch is None:
                continue
            try:
                self._store_one(made.result())
            except ForebayError:
                raise
            except (Exception, CancelledError) as error:
                again.append(batch)
                self._revive(error, running, again)
            else:
                self._done_s += batch.price_s

    def _revive(
        self, error: BaseException, running: dict[Future[Done], Batch], again: deque[Batch]
    ) -> None:
        """Let workers begin anew; what the dead ones had finished is stored, the rest is lost."""
        self._workers.revive(error)
        for made in [each for each in running if each.done() and _is_good(each)]:
            self._done_s += running.pop(made).price_s
            self._store_one(made.result())
        again.extend(running.values())
        running.clear()

    def _keep(self, finished: Iterable[Future[Done]]) -> None:
        """Store what was finished when the study was stopped."""
        for made in finished:
            if _is_good(made):
                self._store_one(made.result())

    def _store_one(self, done: Done) -> None:
        self._store.add_rows(done.rows)
        self.count.ran += len(done.rows)
        self.count.failed += sum(each.runs for each in done.failures)
        self.count.failures += done.failures
        self._seen = self._watch(done.rows)

    def _report(self) -> None:
        if self._progress is None:
            return
        rate = self.count.ran / max(time.monotonic() - self._begun, 1e-3)
        done = f"{self.count.ran:,} of {self._runs:,} runs"
        enter(self._progress, f"running, {done}, {rate:.3g} a second{self._seen}")
        self._progress(min(1.0, self._done_s / self._whole_s))


def _is_good(made: Future[Done]) -> bool:
    return not made.cancelled() and made.exception() is None
