"""Work of the simulator for the page: few at once, one of a kind for each client."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import forebay
from forebay.errors import Words, words
from forebay.web.question import Refused, error_of
from forebay.web.trimming import trim

Event = tuple[str, Any]
Work = Callable[["Run"], None]
_AT_ONCE, _MOST_WAITING, _MOST_KEPT = 2, 64, 64


class Cancelled(KeyboardInterrupt):
    """Ends work from its progress, as Ctrl-C does."""


class Run:
    """Work for one request, which reads its events."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """End the work at its next step; its events end at once."""
        self._cancelled.set()
        self._put(None)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the events until the work is done or cancelled."""
        while (event := await self._events.get()) is not None:
            yield event

    def perform(self) -> None:
        """Do the work, in a thread; nothing that goes wrong leaves it."""
        try:
            self.goes_on(0.0)
            with words(Words.FILE):
                self._work(self)
        except KeyboardInterrupt:  # Cancelled, or the search's own after it
            pass
        except forebay.ForebayError as error:
            self.send("failed", error_of(error))
        except Exception as error:  # a defect must not end the thread without a word
            self.send("failed", error_of(forebay.Defect(f"{type(error).__name__}: {error}")))
        finally:
            self._put(None)
            trim()

    def goes_on(self, _fraction: float) -> None:
        """Raise Cancelled if the work is; the progress of every simulation calls this."""
        if self._cancelled.is_set():
            raise Cancelled

    def send(self, name: str, data: object) -> None:
        """Send an event; nothing once the work is cancelled."""
        if not self._cancelled.is_set():
            self._put((name, data))

    def _put(self, event: Event | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)


class Runs:
    """All work of a server, and the latest answers, which are written out from here."""

    def __init__(self, jobs: int = 0) -> None:
        self.jobs = jobs
        self._running: dict[tuple[str, str], Run] = {}
        self._kept: OrderedDict[str, tuple[forebay.Scenario, str]] = OrderedDict()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="workbench")
        self.side_by_side = ThreadPoolExecutor(jobs or os.cpu_count() or 1, "replication")

    @property
    def open(self) -> int:
        """Number of requests that work is done for, or that wait for it."""
        return len(self._running)

    def warm(self, work: Callable[[], object]) -> None:
        """Do what the first question would wait for, while the page is opened."""
        self._pool.submit(work)

    def begin(self, client: str, kind: str, work: Work) -> Run:
        """Begin; older work of the kind for the same client is cancelled. Raises Refused."""
        key = client, kind
        if key in self._running:
            self._running.pop(key).cancel()
        if self.open >= _MOST_WAITING:
            raise Refused("too many questions at once", "wait until one is answered")
        run = self._running[key] = Run(work)
        self._pool.submit(run.perform)
        return run

    def end(self, client: str, kind: str, run: Run) -> None:
        """Cancel work whose reader has gone; newer work of the client goes on."""
        run.cancel()
        if self._running.get((client, kind)) is run:
            del self._running[client, kind]

    def keep(self, client: str, scenario: forebay.Scenario, answer: forebay.SizeResult) -> None:
        """Keep a client's latest answer; the oldest of too many is forgotten."""
        self._kept[client] = scenario, answer.model_dump_json(by_alias=True)
        self._kept.move_to_end(client)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)

    def kept(self, client: str) -> tuple[forebay.Scenario, forebay.SizeResult]:
        """Return a client's latest answer. Raises Refused."""
        found = self._kept.get(client)
        if found is None:
            raise Refused("the server has no answer of this page", "let it answer once more")
        scenario, document = found
        return scenario, forebay.SizeResult.from_json(document)

    def close(self) -> None:
        """Cancel all work; none begins any more."""
        for run in list(self._running.values()):
            run.cancel()
        for pool in (self._pool, self.side_by_side):
            pool.shutdown(wait=False, cancel_futures=True)
