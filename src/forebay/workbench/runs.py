"""Runs of the simulator for the page: few at once, one for each client, ended by a newer one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import forebay
from forebay.workbench import answers
from forebay.workbench.question import Refused, error_of

Event = tuple[str, Any]
_AT_ONCE, _MOST_WAITING = 2, 64
_COARSE_BUDGET, _FINE_BUDGET, _FINE_SEEDS = "1 s", "3 s", 5
_MEMORY = "1 GB"


class Cancelled(KeyboardInterrupt):
    """Ends a run from its progress, as Ctrl-C does."""


class Run:
    """One question that is being answered; its events are read by one request."""

    def __init__(self, scenario: forebay.Scenario, jobs: int) -> None:
        self._scenario, self._jobs = scenario, jobs
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """End the run at its next step; its events end at once."""
        self._cancelled.set()
        self._put(None)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the events until the answer is whole, or the run is cancelled."""
        while (event := await self._events.get()) is not None:
            yield event

    def answer(self) -> None:
        """Simulate and size, in a thread; nothing that goes wrong leaves it."""
        try:
            self._goes_on(0.0)
            self._curve("coarse", 1, _COARSE_BUDGET)
            self._curve("fine", _FINE_SEEDS, _FINE_BUDGET)
            self._size()
        except KeyboardInterrupt:  # Cancelled, or the search's own after it
            pass
        except forebay.ForebayError as error:
            self._send("failed", error_of(error))
        except Exception as error:  # a defect must not end the thread without a word
            self._send("failed", error_of(forebay.Defect(f"{type(error).__name__}: {error}")))
        finally:
            self._put(None)

    def _curve(self, stage: str, seeds: int, budget: str) -> None:
        """Send a point for each buffer of the curve; none where the link is too large for it."""
        self._send("stage", {"stage": stage})
        for packets in answers.sizes(self._scenario, forebay.laws.for_scenario(self._scenario)):
            try:
                outcome = forebay.run(
                    self._scenario.with_buffer(packets), seeds=seeds, jobs=self._jobs,
                    memory_limit=_MEMORY, progress=self._goes_on, budget=budget,
                )  # fmt: skip
            except forebay.TooLittleTime as error:
                self._send("too-large", {"text": str(error)})
                return
            link = outcome.links["bottleneck"]
            self._send("point", {"stage": stage, **answers.point(packets, link)})

    def _size(self) -> None:
        """Send the answer of `forebay.size`, with the parameters of the command line."""
        self._send("stage", {"stage": "sizing"})
        try:
            found = forebay.size(
                self._scenario, jobs=self._jobs, memory_limit=_MEMORY, progress=self._sizing
            )
        except forebay.TooLittleTime as error:
            if error.result is not None:  # what laws say of the link
                self._send("sized", answers.sized(error.result))
            raise
        self._send("sized", answers.sized(found))

    def _sizing(self, fraction: float) -> None:
        self._goes_on(fraction)
        self._send("progress", {"fraction": fraction})

    def _goes_on(self, _fraction: float) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def _send(self, name: str, data: object) -> None:
        if not self._cancelled.is_set():
            self._put((name, data))

    def _put(self, event: Event | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)


class Runs:
    """All runs of a server."""

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs
        self._of_client: dict[str, Run] = {}
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="workbench")

    @property
    def open(self) -> int:
        """Number of questions that are being answered or wait for it."""
        return len(self._of_client)

    def warm(self) -> None:
        """Import what the first question would wait for, while the page is opened."""
        self._pool.submit(_first)

    def begin(self, client: str, scenario: forebay.Scenario) -> Run:
        """Answer a question; the older one of the same client is cancelled. Raises Refused."""
        if client in self._of_client:
            self._of_client.pop(client).cancel()
        if self.open >= _MOST_WAITING:
            raise Refused("too many questions at once", "wait until one is answered")
        run = self._of_client[client] = Run(scenario, self._jobs)
        self._pool.submit(run.answer)
        return run

    def end(self, client: str, run: Run) -> None:
        """Cancel a run whose reader has gone; a newer run of the client goes on."""
        run.cancel()
        if self._of_client.get(client) is run:
            del self._of_client[client]

    def close(self) -> None:
        """Cancel every run; none begins any more."""
        for run in self._of_client.values():
            run.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _first() -> None:
    """Size and simulate a link that takes no time."""
    link, traffic = forebay.Link(rate="1 Mbit/s"), (forebay.Long(flows=1),)
    measure = forebay.Measure(warmup="0 s", duration="1 s")
    goals = forebay.Goals(utilization=0.5)
    easy = forebay.Scenario(link=link, traffic=traffic, measure=measure, goals=goals)
    answers.laws_of(easy)
    forebay.run(easy, budget="1 s")
    answers.sized(forebay.size(easy, "theory"))
