"""Where a study runs: threads or processes here, or the workers of a Dask cluster.

Simulation leaves the interpreter to other threads, so threads suffice while the Python between two
simulations, about a tenth of a short run, fits into one processor. Beyond that there are processes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextvars import copy_context
from multiprocessing import get_context
from typing import Any

from forebay.packages import import_package
from forebay.studies.errors import StudyError
from forebay.studies.work import Batch, Done, make_batch

MOST_THREADS = 4
_CONNECT_S, _LOOK_S, _SILENCE_S = 4.0, 2.0, 5.0
"""For the scheduler; between looks at its workers; without one until that is said."""
WAIT_S = 60.0
"""Without a worker until a study ends."""
_POLL_S = 0.1
_MOST_DEATHS = 20
"""Workers that may die one after the other without a batch between them."""


class Workers(ABC):
    """Makes batches; `count` of them at a time."""

    count: int
    where: str
    """In words: "2 cores"."""

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


def _cores(count: int) -> str:
    return f"{count} {'core' if count == 1 else 'cores'}"


class Threads(Workers):
    """Threads of this process."""

    def __init__(self, count: int) -> None:
        self.count, self.where = count, _cores(min(count, os.cpu_count() or 1))
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

    def close(self) -> None:
        """Close after all batches are done."""
        self._pool.shutdown()


class Processes(Workers):
    """Processes of this machine. If one dies, a new pool makes its batch again."""

    def __init__(self, count: int) -> None:
        self.count, self.where = count, _cores(min(count, os.cpu_count() or 1))
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
            made = self._pool.submit(make_batch, batch)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) is not None:
                raise
            raise BrokenExecutor(str(error)) from error
        made.add_done_callback(self._count)
        return made

    def _count(self, made: Future[Done]) -> None:
        if not made.cancelled() and made.exception() is None:
            self._deaths = 0

    def revive(self, error: BaseException) -> None:
        """Open a new pool after a worker died; give up if they die again and again."""
        if not isinstance(error, BrokenExecutor):
            raise error
        self._deaths += 1
        if self._deaths > _MOST_DEATHS:
            wrong = f"{self._deaths} workers died without finishing a batch"
            raise StudyError(wrong, "write fewer jobs, as their memory may be too small") from None
        self.stop()
        self._pool = self._open()

    def stop(self) -> None:
        """End the processes.

        The pool then fails what is left. It is not told to cancel that, because its thread could
        no longer fail what was cancelled meanwhile (Python 3.11). A process that is killed while it
        writes a result leaves a part of one: the pool's thread waits for the rest until nobody can
        write, and this process could.
        """
        made = list((self._pool._processes or {}).values())
        results: Any = self._pool._result_queue
        for each in made:
            with contextlib.suppress(OSError, ValueError):
                each.kill()
        for each in made:
            with contextlib.suppress(OSError, ValueError, AssertionError):
                each.join()
        if results is not None:  # the pool is not closed yet
            results._writer.close()
        self._pool.shutdown(wait=True)

    def close(self) -> None:
        """Close after all batches are done."""
        self._pool.shutdown()


def _begin(parent: int) -> None:
    """Leave signals to the parent, which ends its workers; end with it if it is killed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def watch() -> None:
        import time

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
        except (OSError, ValueError, TimeoutError) as error:
            wrong = f"no scheduler answers at {address} ({type(error).__name__})"
            raise StudyError(wrong, "write the address that dask scheduler printed") from None
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
        self.where = f"{self.count} {'thread' if self.count == 1 else 'threads'} of {address}"

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
        silent_s, start = now - self._seen_s, f"dask worker {self._address} --nthreads 1"
        wrong = f"the scheduler at {self._address} has had no worker for {silent_s:.0f} s"
        if silent_s >= self._wait_s:
            hint = f"start one with: {start}; what is stored stays, and the same study goes on"
            raise StudyError(wrong, hint)
        if silent_s >= _SILENCE_S and not self._told:
            self._told = True
            self._say(f"{wrong}; waiting up to {self._wait_s:.0f} s, start one with: {start}")

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
        why = " ".join(str(error).split())[:200] or "its scheduler is gone"
        wrong = f"the cluster failed ({type(error).__name__}: {why})"
        raise StudyError(wrong, "start it again; the same command continues") from None
