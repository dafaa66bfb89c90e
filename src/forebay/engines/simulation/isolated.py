"""Runs with congestion controls from outside, in a process of their own.

What such a control does to its process it does to that one: a crash, or a hook that does not
return, ends in one line. `child` is the other side.
"""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.effort import Effort
from forebay.engines.footprint import Limit, TooMuchMemory, estimate
from forebay.engines.replication import FlowRows, to_trace
from forebay.engines.replication.layout import Layout, expand, lay_out
from forebay.engines.replication.readings import Watched, to_reading
from forebay.engines.simulation import foreign_controls
from forebay.engines.simulation.foreign_controls import faults_named
from forebay.engines.simulation.networks import route
from forebay.engines.simulation.runs import Draws, PacketFiles, by_flow, make_run
from forebay.errors import Defect, ForebayError, panics_as_defects
from forebay.foreign import ControlFailed
from forebay.outcome import Reading
from forebay.outcome.trace import Trace
from forebay.progress import Progress, enter, part
from forebay.scenario import Scenario
from forebay.words import Fact

STALL_S = 10.0
"""A simulation, or a library that is being loaded, does not stand still for longer."""
_LOOK_S = 0.5
_HEAD = struct.Struct("<Q")
STRUCTURES = _core.structure_bytes()


class Isolated:
    """A process for runs with controls from outside; it begins when it is first needed.

    It keeps what it has drawn, as an engine does. One that has failed is replaced by the next call.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def call(
        self, names: Sequence[str], request: str, *arguments: object, progress: Progress | None
    ) -> Any:
        """Let the process answer a request of ``_REQUESTS``, given these arguments.

        ``names`` are the controls that it loads, for the message. Raises ControlFailed: a control
        crashed, did not return, or set what no window can be; and what the request raised.
        """
        try:
            return self._answer(tuple(names), request, arguments, progress or (lambda _: None))
        except BaseException:
            self.close()
            raise

    def _answer(
        self, names: tuple[str, ...], request: str, given: Sequence[object], progress: Progress
    ) -> Any:
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        send(process.stdin, (request, given))
        stands_since, watched = 0.0, False
        while True:
            silent = not select.select([process.stdout], [], [], _LOOK_S)[0]
            message: Any = ("waiting", None) if silent else receive(process.stdout)
            now = time.monotonic()
            match message:
                case None:
                    raise ControlFailed(names, _ended(process))
                case ("answer", answer):
                    return answer
                case ("error", error):
                    raise error
                case ("watch", watched):
                    stands_since = now
                case ("moved", fraction):
                    stands_since = now
                    progress(fraction)
                case ("stands", fraction):
                    progress(fraction)
                case ("stage", stage):
                    enter(progress, stage)
            if watched and now - stands_since > STALL_S:
                raise ControlFailed(names, Fact("control-failed.stalled", stall_s=STALL_S))

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            started = "from forebay.engines.simulation.isolated import main; main()"
            path = os.pathsep.join(folder for folder in sys.path if folder)  # of the same forebay
            process = subprocess.Popen(
                [sys.executable, "-c", started],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path},
                start_new_session=True,  # an interrupt is the parent's
            )
            self._process = process
        return process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()

    def __del__(self) -> None:
        self.close()


def _ended(process: subprocess.Popen[bytes]) -> Fact:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STALL_S)
    status = process.returncode
    if status is not None and status < 0:
        named = {each.value: each.name for each in signal.Signals}
        return Fact("control-failed.crashed", by=named.get(-status, f"signal {-status}"))
    return Fact("control-failed.ended", status=status)


def send(stream: Any, message: object) -> None:
    """Write a message."""
    try:
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise Defect(f"a message to or from a simulation's process: {error}") from error
    with suppress(BrokenPipeError):  # who reads it sees the end, and says why
        stream.write(_HEAD.pack(len(data)) + data)
        stream.flush()


def receive(stream: Any) -> Any:
    """Read a message; None at the end."""
    head = _exactly(stream, _HEAD.size)
    if head is None:
        return None
    data = _exactly(stream, *_HEAD.unpack(head))
    return None if data is None else pickle.loads(data)


def _exactly(stream: Any, size: int) -> bytes | None:
    """Read so many bytes and no more, so that `select` sees what is left; None at the end."""
    parts = []
    while size > 0:
        part = os.read(stream.fileno(), min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _Progress:
    """Reports to the parent how far a run is, and whether it has moved since the last report."""

    def __init__(self, out: Any) -> None:
        self._out, self._last = out, -1.0

    def __call__(self, fraction: float) -> None:
        send(self._out, ("moved" if fraction != self._last else "stands", fraction))
        self._last = fraction

    def stage(self, name: str) -> None:
        """Report a part of the job."""
        send(self._out, ("stage", name))


def main() -> None:
    """Answer requests. What a library prints goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    progress = _Progress(out)
    foreign_controls.allow(lambda watched: send(out, ("watch", watched)))
    while True:
        name, arguments = requests.get()
        try:
            answer = ("answer", _REQUESTS[name](progress, *arguments))
        except ForebayError as error:
            answer = ("error", error)
        except BaseException as error:
            answer = ("error", Defect(f"{type(error).__name__}: {error}"))
        send(out, answer)


def _read(requests: SimpleQueue[Any]) -> None:
    """Queue what comes; end the process with the parent, whatever a control is doing."""
    stream = sys.stdin.buffer
    while (request := receive(stream)) is not None:
        requests.put(request)
    os._exit(0)


@dataclass(frozen=True, slots=True)
class _Records:
    """Records of flows that can be sent: all columns."""

    all: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.all["flow"])

    def columns(
        self, first: int = 0, end: int | None = None, names: Any = None
    ) -> dict[str, NDArray[Any]]:
        """Return rows of columns."""
        wanted = self.all if names is None else names
        return {name: np.asarray(self.all[name][first:end]) for name in wanted}


def _simulate(
    progress: _Progress,
    scenario: Scenario,
    seeds: list[int],
    effort: Effort,
    octets: int,
    buffers: Mapping[str, int],
    recorded: bool,
    files: PacketFiles | None,
) -> tuple[dict[int, Reading], float, dict[int, FlowRows] | None]:
    flows: dict[int, FlowRows] | None = {} if recorded else None
    draws = _kept.setdefault(octets, Draws(octets))
    kept, effort = Kept(draws, 0.0, flows, files), effort.telling(progress)
    readings, octets_each = simulate(scenario, seeds, effort, Limit(octets), buffers, kept)
    if flows is not None:
        flows = {
            seed: replace(rows, records=_Records(dict(rows.records.columns())))
            for seed, rows in flows.items()
        }
    return readings, octets_each, flows


_kept: dict[int, Draws] = {}


def trace(
    progress: Progress | None,
    scenario: Scenario,
    limit: Limit,
    watched: Watched,
    seed: int,
) -> Trace:
    """Trace one replication over time, in this process."""
    samples = int(scenario.measure.duration / watched.step_s) + 1
    takes = estimate(scenario, STRUCTURES, samples=samples, watched=len(watched.flows))
    limit.check(takes, 1)
    run, workload, layout = make_run(scenario, seed, watched)
    with panics_as_defects(), faults_named(), foreign_controls.watched():
        (raw,) = _core.simulate([run], jobs=1, progress=limit.watch(progress))
    return to_trace(scenario, layout, raw, workload, watched, seed)


def _probe(progress: _Progress, library: Path, name: str) -> dict[str, Any]:
    """Return what a library says of its control."""
    control = foreign_controls.load_library(library, name)
    return {"own_name": control.own_name, **control.wants}


def _check(progress: _Progress, name: str, scenarios: list[Scenario]) -> dict[str, Any]:
    """Return what the conformance suite says, whether runs repeat, and which hooks were called."""
    control = foreign_controls.load(name)
    with foreign_controls.watched():
        properties = control.conforms()
    digests = [_digests(progress, scenario, jobs) for scenario in scenarios for jobs in (1, 1, 2)]
    by_scenario = [digests[at : at + 3] for at in range(0, len(digests), 3)]
    return {
        "properties": properties,
        "twice": all(first == again for first, again, _ in by_scenario),
        "two threads": all(first == threads for first, _, threads in by_scenario),
        "calls": control.calls(),
        "fault": control.fault(),
    }


def _digests(progress: _Progress, scenario: Scenario, jobs: int) -> list[bytes]:
    effort = Effort(jobs=jobs, progress=progress)
    readings, _ = simulate(scenario, [1, 2], effort, Limit(), {}, Kept())
    return [pickle.dumps(replace(reading, cpu_s=0.0)) for reading in readings.values()]


def _compare(
    progress: _Progress, ours: str, other: str | Path, scenario: Scenario, seeds: list[int]
) -> _core.Tally:
    """Return how often ``other`` would have done otherwise beside ``ours``, which steers."""
    if isinstance(other, Path):
        beside = foreign_controls.load_library(other, other.name)
    else:
        beside = foreign_controls.load(other)
    with foreign_controls.shadowing(ours, beside) as pair:
        simulate(scenario, seeds, Effort(jobs=1, progress=progress), Limit(), {}, Kept())
    return pair.tally()


_REQUESTS: dict[str, Callable[..., Any]] = {
    "simulate": _simulate,
    "trace": trace,
    "probe": _probe,
    "check": _check,
    "compare": _compare,
}
_REPORT_S = 0.005
"""Between two looks at memory while workloads are drawn."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an engine keeps: workloads; rows of flows and files of packets if asked.

    ``held_bytes`` are those of its readings.
    """

    draws: Draws | None = None
    held_bytes: float = 0.0
    flows: dict[int, FlowRows] | None = None
    files: PacketFiles | None = None


def simulate(
    scenario: Scenario,
    seeds: list[int],
    effort: Effort,
    limit: Limit,
    buffers: Mapping[str, int],
    engine: Kept,
) -> tuple[dict[int, Reading], float]:
    """Simulate replications in parallel, as many at a time as fit into memory with their draws.

    If they take more than was estimated, they start again one at a time. Also returns the bytes of
    a reading, by estimate.
    """
    network, routed = None, 0.0
    if scenario.topology is not None and seeds:
        _, routed = route(scenario, limit, effort.progress)
        scenario, network = expand(scenario, buffers)
        enter(effort.progress, "packets")
    recorded = engine.flows is not None
    takes = estimate(
        scenario, STRUCTURES, recorded=recorded, captured=engine.files is not None, network=network,
        routed=routed,
    )  # fmt: skip
    limit.check(takes, len(seeds))
    keeps = network is None and takes.least(len(seeds)) <= limit.octets // 2
    held_bytes = engine.held_bytes + (engine.draws.held_bytes if keeps and engine.draws else 0.0)
    threads, together = limit.side_by_side(takes, len(seeds), effort.jobs, held_bytes)
    watching = limit.watch(effort.progress)
    readings: dict[int, Reading] = {}
    while left := [seed for seed in seeds if seed not in readings]:
        batch = left[:together]
        alone = len(batch) == len(seeds)
        report = watching if alone else part(watching, len(readings), len(seeds), len(batch))
        kept = replace(engine, draws=engine.draws if keeps else None)
        try:
            running = Effort(jobs=threads, progress=report)
            readings |= _side_by_side(scenario, network, batch, running, kept)
        except TooMuchMemory:
            if together == 1:
                raise
            threads = together = 1
    return readings, takes.reading


def _side_by_side(
    scenario: Scenario, network: Layout | None, seeds: list[int], effort: Effort, kept: Kept
) -> dict[int, Reading]:
    replications, seen_at = {}, -math.inf
    layout = lay_out(scenario) if network is None else network
    for seed in seeds:
        if time.monotonic() - seen_at > _REPORT_S:
            effort.tell(0.0)
            seen_at = time.monotonic()
        workload = None if kept.draws is None else kept.draws.draw(scenario, seed)
        replications[seed] = make_run(
            scenario, seed, layout=layout, workload=workload,
            flow_records=kept.flows is not None, files=kept.files,
        )  # fmt: skip
    with panics_as_defects(), faults_named(), foreign_controls.watched():
        runs = [run for run, *_ in replications.values()]
        raw = _core.simulate(runs, jobs=effort.jobs, progress=effort.progress)
    if network is not None:
        enter(effort.progress, "readings")
    readings = {}
    for (seed, (_, workload, own)), result in zip(replications.items(), raw, strict=True):
        seen = by_flow(result, workload)
        readings[seed] = to_reading(scenario, seed, workload, own, seen)
        if kept.flows is not None:
            records = seen.get("flow_records")
            assert records is not None, "flow_records=True"
            kept.flows[seed] = FlowRows(scenario, seed, workload, own, records, readings[seed])
        if kept.files is not None:
            packets, log = result["capture"], result["packet_log"]
            kept.files.write(scenario, workload, own, packets, log)
    return readings
