"""The process that loads controls from outside: it answers `isolated` until its input ends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.engines.simulation import foreign_controls
from forebay.engines.simulation.isolated import receive, send
from forebay.errors import Defect, ForebayError

if TYPE_CHECKING:
    from pathlib import Path

    from forebay.engines.replication import FlowRows, RawFlowRecords
    from forebay.engines.simulation.packet_files import PacketFiles
    from forebay.outcome import Reading
    from forebay.outcome.trace import Trace
    from forebay.scenario import Duration, Scenario


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
    jobs: int,
    octets: int,
    buffers: Mapping[str, int],
    recorded: bool,
    files: PacketFiles | None,
) -> tuple[dict[int, Reading], float, dict[int, FlowRows] | None]:
    from dataclasses import replace

    from forebay.engines.footprint import Limit
    from forebay.engines.simulation.side_by_side import Kept, simulate

    flows: dict[int, FlowRows] | None = {} if recorded else None
    kept = Kept(_draws(octets), 0.0, flows, files)
    found, each = simulate(scenario, seeds, jobs, progress, Limit(octets), buffers, kept)
    if flows is not None:
        flows = {s: replace(f, records=_sendable(f.records)) for s, f in flows.items()}
    return found, each, flows


def _sendable(records: RawFlowRecords) -> RawFlowRecords:
    return _Records(dict(records.columns()))


_kept: dict[int, Any] = {}


def _draws(octets: int) -> Any:
    from forebay.engines.simulation.runs import DRAWS_SHARE, Draws

    return _kept.setdefault(octets, Draws(int(DRAWS_SHARE * octets)))


def _trace(
    progress: _Progress,
    scenario: Scenario,
    octets: int,
    step: Duration,
    flows: list[int],
    seed: int,
) -> Trace:
    from forebay.engines.simulation import SimulationEngine

    engine = SimulationEngine()
    engine.limit_memory(octets)
    return engine.trace_here(scenario, step=step, flows=flows, seed=seed, progress=progress)


def _probe(progress: _Progress, library: Path, name: str) -> dict[str, Any]:
    """Return what a library says of its control."""
    control = foreign_controls.load_library(library, name)
    return {"own_name": control.own_name, **control.wants}


def _check(progress: _Progress, name: str, scenarios: list[Scenario]) -> dict[str, Any]:
    """Return what the conformance suite says, whether runs repeat, and which hooks were called."""
    control = foreign_controls.load(name)
    with foreign_controls.watched():
        properties = control.conforms()
    made = [_digests(progress, each, jobs) for each in scenarios for jobs in (1, 1, 2)]
    by_scenario = [made[at : at + 3] for at in range(0, len(made), 3)]
    return {
        "properties": properties,
        "twice": all(first == again for first, again, _ in by_scenario),
        "two threads": all(first == threads for first, _, threads in by_scenario),
        "calls": control.calls(),
        "fault": control.fault(),
    }


def _digests(progress: _Progress, scenario: Scenario, jobs: int) -> list[bytes]:
    import pickle
    from dataclasses import replace

    from forebay.engines.footprint import Limit, default_limit
    from forebay.engines.simulation.side_by_side import Kept, simulate

    kept = Kept(None, 0.0, None, None)
    found, _ = simulate(scenario, [1, 2], jobs, progress, Limit(default_limit()), {}, kept)
    return [pickle.dumps(replace(each, cpu_s=0.0)) for each in found.values()]


def _compare(
    progress: _Progress, ours: str, other: str | Path, scenario: Scenario, seeds: list[int]
) -> _core.Tally:
    """Return how often ``other`` would have done otherwise beside ``ours``, which steers."""
    from pathlib import Path

    from forebay.engines.footprint import Limit, default_limit
    from forebay.engines.simulation.side_by_side import Kept, simulate

    if isinstance(other, Path):
        beside = foreign_controls.load_library(other, other.name)
    else:
        beside = foreign_controls.load(other)
    kept = Kept(None, 0.0, None, None)
    with foreign_controls.shadowing(ours, beside) as pair:
        simulate(scenario, seeds, 1, progress, Limit(default_limit()), {}, kept)
    return pair.tally()


_REQUESTS: dict[str, Callable[..., Any]] = {
    "simulate": _simulate,
    "trace": _trace,
    "probe": _probe,
    "check": _check,
    "compare": _compare,
}
