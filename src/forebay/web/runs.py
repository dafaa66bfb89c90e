"""Work of the simulator for the page: few at once, one of a kind for each client."""

import asyncio
import ctypes
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np

import forebay
from forebay.errors import written_in
from forebay.web.opening import Refused, error_of
from forebay.words import Fact, Notation

MEMORY = "1 GB"


def wire_s(scenario: forebay.Scenario, packets: float) -> float:
    """Return how long so many of its packets take on the bottleneck, in seconds."""
    return packets * 8 * float(scenario.packet) / float(scenario.link.capacity)


def shorter(
    scenario: forebay.Scenario, packets: float, most_warmup_s: float | None = None
) -> forebay.Scenario | None:
    """Return the scenario with a run of so many packets, half of it warm-up; None if it has less.

    ``most_warmup_s`` is the longest warm-up.
    """
    measure, seconds = scenario.measure, wire_s(scenario, packets)
    if float(measure.warmup + measure.duration) <= seconds:
        return None
    warmup_s = seconds / 2 if most_warmup_s is None else min(most_warmup_s, seconds / 2)
    window = {"warmup": f"{warmup_s:.6f} s", "duration": f"{seconds - warmup_s:.6f} s"}
    return scenario.replace({"measure": window})


@cache
def _libc() -> ctypes.CDLL | None:
    """Return glibc; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") else None


def trim() -> None:
    """Give back what is free in every thread's arena: each answer leaves holes in another one."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


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
            with written_in(Notation.FILE):
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
    """All work of a server, and its latest answers, which are written out from here."""

    def __init__(self, jobs: int = 0) -> None:
        self.jobs = jobs
        self._running: dict[tuple[str, str], Run] = {}
        self._kept: OrderedDict[str, str] = OrderedDict()
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
            raise Refused("refused.many-questions")
        run = self._running[key] = Run(work)
        self._pool.submit(run.perform)
        return run

    def end(self, client: str, kind: str, run: Run) -> None:
        """Cancel work whose reader has gone; newer work of the client goes on."""
        run.cancel()
        if self._running.get((client, kind)) is run:
            del self._running[client, kind]

    def keep(self, document: str) -> str:
        """Keep an answer, as JSON, by the name that is returned; the oldest are forgotten."""
        name = sha256(document.encode()).hexdigest()
        self._kept.pop(name, None)  # to the end; several threads keep answers
        self._kept[name] = document
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return name

    def kept(self, name: str) -> forebay.SizeResult:
        """Return an answer by its name. Raises Refused."""
        document = self._kept.get(name)
        if document is None:
            raise Refused("refused.forgotten")
        return forebay.SizeResult.from_json(document)

    def close(self) -> None:
        """Cancel all work; none begins any more."""
        for run in list(self._running.values()):
            run.cancel()
        for pool in (self._pool, self.side_by_side):
            pool.shutdown(wait=False, cancel_futures=True)


_SAMPLES, _MOST_FLOWS = 600, 4
_MOST_PACKETS = 5_000_000
"""Packets of the replication: a second or two of a processor."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Work that traces seed 1 of a question at one buffer."""

    scenario: forebay.Scenario

    def __call__(self, run: Run) -> None:
        """Send the series."""
        scenario, note = _short_enough(self.scenario)
        flows = watched(scenario)
        step_s = float(scenario.measure.duration) / _SAMPLES

        def progress(fraction: float) -> None:
            run.goes_on(fraction)
            run.send("progress", {"fraction": fraction})

        trace = forebay.trace(
            scenario, step=f"{step_s:.9f} s", flows=flows, memory_limit=MEMORY, progress=progress
        )
        run.send("replayed", {**series(trace), "note": note})


def watched(scenario: forebay.Scenario) -> list[int]:
    """Return a few of the long flows' numbers, evenly through the first class of them.

    None behind a class whose number of flows is drawn: their numbers are not known.
    """
    first = 0
    for group in scenario.traffic:
        many = int(getattr(group, "flows", None) or 0)
        if group.kind == "long" and many:
            some = min(many, _MOST_FLOWS)
            return sorted({first + index * (many - 1) // max(1, some - 1) for index in range(some)})
        if not many:
            return []  # how many flows come before is drawn
        first += many
    return []


def _short_enough(scenario: forebay.Scenario) -> tuple[forebay.Scenario, str]:
    """Return the scenario with a window that is simulated in seconds, and what was shortened."""
    short = shorter(scenario, _MOST_PACKETS, float(scenario.measure.warmup))
    if short is None:
        return scenario, ""
    warmup, window = short.measure.warmup, short.measure.duration
    return short, str(Fact("workbench.replayed", window=window, warmup=warmup))


def series(trace: forebay.Trace) -> dict[str, Any]:
    """Return a trace as JSON lists; ``windows`` by flow, ``drops`` in each step."""
    link, fit = trace.bottleneck, trace.window_sum_fit
    steps = np.round((trace.drops.at_s - trace.at_s[0]) / trace.step_s).astype(int)
    inside = np.clip(steps, 0, trace.at_s.size - 1)
    drops = np.bincount(inside, weights=trace.drops.count, minlength=trace.at_s.size)
    return {
        "at_s": _rounded(trace.at_s),
        "queue": link.queue_packets.tolist(),
        "buffer": link.buffer_packets,
        "sum": _rounded(trace.window_sum_packets),
        "windows": {str(n): _rounded(flow.cwnd_packets) for n, flow in trace.flows.items()},
        "drops": drops.astype(int).tolist(),
        "utilization": link.utilization,
        "seed": trace.seed,
        "fit": None if fit is None else {
            "mean": fit.mean, "deviation": fit.standard_deviation,
            "distance": fit.kolmogorov_smirnov,
        },
    }  # fmt: skip


def _rounded(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    return [round(float(value), 4) for value in values]
