"""One replication: draw the workload, run it, read it, and apply the validity gate."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forebay.engines.replication.layout import Layout, lay_out
from forebay.engines.replication.readings import RawHistogram, RawReadings, Watched
from forebay.engines.testbed import machine, namespaces
from forebay.engines.testbed.congestion import ensure
from forebay.engines.testbed.counters import Counted, Counters, WindowClock, agreement, counting
from forebay.engines.testbed.errors import TestbedError, asking
from forebay.engines.testbed.plan import Places, built_link, make_plan, pair_for
from forebay.engines.testbed.registry import recording
from forebay.engines.testbed.validity import faults
from forebay.outcome.reading import FloatArray, IntArray
from forebay.progress import Progress
from forebay.scenario import Scenario, Tcp
from forebay.words import Fact
from forebay.workload import Workload, draw

Event = dict[str, Any]

_DEFECT = Fact("testbed.defect")
_SILENT_S = 20.0
"""An emulator without output for this time hangs. It writes an event once a second."""


class Program:
    """A context manager. Its exit always ends the child process."""

    def __init__(self, binary: Path, plan: Path, started: Callable[[int], None]) -> None:
        self._errors = plan.with_name("emulator.log")
        with asking("testbed.starting", path=binary), open(self._errors, "wb") as errors:
            # It has its own session, so Ctrl-C in the terminal reaches only us. Its standard input
            # closes when we end, and this ends the emulator.
            self._child = subprocess.Popen(
                [str(binary), "run", str(plan)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
        started(self._child.pid)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.close()
        namespaces.end(self._child)
        self._child.stdout.close()

    def events(self) -> Iterator[Event]:
        """Yield its events, up to and including `done`.

        Raises TestbedError: it reports an error, ends without `done`, or hangs.
        """
        for line in self._lines():
            event = _parse(line)
            if event["event"] == "error":
                said, hint = event.get("message", "?"), event.get("hint", _DEFECT)
                raise TestbedError("testbed.emulator", hint, said=said)
            yield event
            if event["event"] == "done":
                self._child.wait()
                return
        status = self._child.wait()
        said = self._errors.read_text(errors="replace").strip().splitlines()
        last = f": {said[-1]}" if said else ""
        raise TestbedError("testbed.emulator-ended", _DEFECT, status=status, last=last)

    def _lines(self) -> Iterator[bytes]:
        assert self._child.stdout is not None
        pipe, rest = self._child.stdout.fileno(), b""
        silent_until = time.monotonic() + _SILENT_S
        while (left := silent_until - time.monotonic()) > 0:
            if not select.select([pipe], [], [], left)[0]:
                continue
            part = os.read(pipe, 65536)
            if not part:
                return
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
            silent_until = time.monotonic() + _SILENT_S
        raise TestbedError("testbed.emulator-silent", _DEFECT, silent_s=_SILENT_S)


def _parse(line: bytes) -> Event:
    try:
        event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            return event
    except ValueError:
        pass
    raise TestbedError("testbed.emulator-said", _DEFECT, said=line[:80])


class Result(NamedTuple):
    """The emulator's readings, including those of its own process."""

    raw: RawReadings
    gate: dict[str, float]
    provenance: dict[str, Any]


def read_result(path: Path) -> Result:
    """Read the file that the emulator wrote.

    Raises TestbedError: the file does not exist, or has another format than this version reads.
    """
    try:
        fields = json.loads(path.read_text())
        raw: RawReadings = _readings(fields, len(fields["rtt"]))
        return Result(raw, fields["gate"], fields.get("provenance", {}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TestbedError("testbed.other-result", error=repr(error)) from error


Reader = Callable[[Any, int], Any]
"""What a value of the result becomes, with the number of classes."""


def _floats(value: Any, _: int = 0) -> FloatArray:
    return np.asarray(value, dtype=np.float64)


def _counts(value: Any, _: int = 0) -> IntArray:
    return np.asarray(value, dtype=np.int64)


def _by_class(value: Any, classes: int) -> IntArray:
    return _counts(value).reshape(-1, classes)


def _histogram(value: Any, _: int = 0) -> RawHistogram:
    edges, counts = value
    return _floats(edges), _floats(counts)


def _stretches(value: Any, _: int) -> tuple[float, RawHistogram]:
    return float(value[0]), _histogram(value[1])


def _as_it_is(value: Any, _: int) -> Any:
    return value


def _each(read: Reader) -> Reader:
    return lambda values, classes: [read(value, classes) for value in values]


def _part(**readers: Reader) -> Reader:
    return lambda fields, classes: (
        None if fields is None
        else {name: read(fields[name], classes) for name, read in readers.items()}
    )  # fmt: skip


_incidents = _part(at_s=_floats, flow=_counts, count=_counts)
_link = _part(
    busy_s=_floats, queue_packet_s=_floats, delay_sum_s=_floats, queue_s=_floats,
    class_busy_s=_floats, queue_bin_width=_as_it_is, longest_s=_as_it_is, delay=_histogram,
    delays=_each(_histogram), held=_counts, lost=_counts, arrivals=_by_class, drops=_by_class,
    marks=_by_class, accepted=_by_class, sent=_by_class, sent_bytes=_by_class,
    detail=_part(seen=_counts, busy=_stretches, idle=_stretches),
)  # fmt: skip
_readings = _part(
    links=_each(lambda fields, classes: {"classes": np.arange(classes), **_link(fields, classes)}),
    sent=_by_class, drops=_by_class, passed=_by_class, delivered_bytes=_by_class,
    timeouts=_by_class, retransmissions=_by_class, flow_bytes=_counts, flow_drops=_counts,
    flow_passed=_counts, rtt=_each(_histogram), completions_s=_each(_floats),
    unfinished_s=_each(_floats), packets=_as_it_is, events=_as_it_is, wall_s=_as_it_is,
    trace=_part(
        at_s=_floats, queue=_counts, window_sum=_floats, in_avoidance=_counts, cwnd=_floats,
        srtt_s=_floats, state=_counts, window_mean=_floats, window_variance=_floats,
        drops=_incidents, reductions=_incidents,
    ),
)  # fmt: skip
"""The result's own fields; what else it has is read apart."""


@dataclass(frozen=True)
class FinishedRun:
    """The readings of one run, and whether they are valid.

    Attributes
    ----------
    faults : faults that make the run invalid; empty for a valid run.
    gate, sysctls, emulator : for the provenance.
    counters : of other programs, and their difference from the router; empty if not requested.
    """

    workload: Workload
    layout: Layout
    raw: RawReadings
    gate: dict[str, float]
    faults: list[Fact]
    sysctls: dict[str, str]
    emulator: dict[str, Any]
    counters: dict[str, Any]


def run_once(
    scenario: Scenario,
    seed: int,
    *,
    progress: Progress | None = None,
    watched: Watched | None = None,
    capture: Path | None = None,
    counters: Sequence[str] = (),
) -> FinishedRun:
    """Run the replication of `seed` once.

    Raises EngineUnavailable, TestbedError: this machine cannot run it, or refused a step.
    Everything created is removed.
    """
    machine.check()
    workload, layout = draw(scenario, seed), lay_out(scenario)
    if watched is not None:
        watched.check(len(workload))
    with ExitStack() as stack:
        stack.enter_context(ensure(controls_of(scenario)))
        record = stack.enter_context(recording())
        pair = stack.enter_context(pair_for(scenario, workload, record))
        scratch = record.make_scratch()
        places = Places(pair.left.namespace, pair.right.namespace, scratch / "result.json", capture)
        plan = make_plan(scenario, workload, layout, places, watched)
        clock = WindowClock(scenario.measure.warmup, scenario.measure.duration)
        counted = stack.enter_context(
            counting(counters, pair.right.namespace, scratch, record, clock)
        )
        path = scratch / "plan.json"
        path.write_text(json.dumps(plan))
        with Program(machine.emulator(), path, record.started) as program:
            for event in program.events():
                if event["event"] == "ready":
                    counted.begin(event["began_ns"] / 1e9)
                    check_queues(layout, event)
                elif event["event"] == "progress" and progress is not None:
                    progress(event["done"])
        result = read_result(places.result)
        compared = _compare(result, layout, counted, clock) if counters else {}
    limited = any(isinstance(group, Tcp) and group.max_window for group in scenario.traffic)
    shortest_drain_s = min(
        queue.buffer_packets * queue.packet_bytes * 8.0 / link.highest_bps
        for link in layout.links
        for queue in link.queues
    )
    wrong = faults(result.gate, window_is_limited=limited, drain_s=shortest_drain_s)
    raw, gate, emulator = result
    return FinishedRun(workload, layout, raw, gate, wrong, pair.sysctls, emulator, compared)


def controls_of(scenario: Scenario) -> list[str]:
    """Return the congestion controls of a scenario, without duplicates."""
    names = (name for group in scenario.traffic if isinstance(group, Tcp) for name in group.shares)
    return list(dict.fromkeys(names))


def _compare(
    result: Result, layout: Layout, counters: Counters, clock: WindowClock
) -> dict[str, Any]:
    """Compare the other counters with what the router wrote to the receivers' device."""
    handed = result.provenance["handed_to_receiver"]
    flows = int((result.raw["flow_bytes"] > 0).sum())
    router = Counted(handed["octets"], handed["packets"], clock.window_s, flows)
    alone = layout.links[0].rate_bps if len(layout.links) == 1 else None
    return agreement(router, counters.counts(), alone)


def check_queues(layout: Layout, ready: Event) -> None:
    """Compare the queues that the router built with those of the scenario.

    Raises TestbedError: one differs, in its discipline, limit or rate, for example.
    """
    planned, built = [built_link(link) for link in layout.links], ready.get("links")
    if built != planned:
        raise TestbedError("testbed.other-queues", built=built, planned=planned)
