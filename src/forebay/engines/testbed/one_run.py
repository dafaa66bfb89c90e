"""One replication: draw the workload, run it, read it, and apply the validity gate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.engines.replication import Layout, RawReadings, Watched, lay_out
from forebay.engines.testbed import congestion, machine
from forebay.engines.testbed.counters.agreement import agreement
from forebay.engines.testbed.counters.reading import Counters, counting
from forebay.engines.testbed.counters.window_clock import Counted, WindowClock
from forebay.engines.testbed.errors import TestbedError
from forebay.engines.testbed.namespace_pair import pair_for
from forebay.engines.testbed.plan import Places, built_link, make_plan
from forebay.engines.testbed.program import Event, Program
from forebay.engines.testbed.registry import RunResources, recording
from forebay.engines.testbed.result import Result, read_result
from forebay.engines.testbed.validity import faults
from forebay.scenario import Tcp
from forebay.workload import Workload, draw

if TYPE_CHECKING:
    from forebay.engines.replication import LinkSpec
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_CHANGED = "forebay and forebay-emulator must be of one version: run `make setup testbed`"


@dataclass(frozen=True)
class FinishedRun:
    """The readings of one run, and whether they are valid.

    Attributes
    ----------
    faults : list of str
        Faults that make the run invalid; empty for a valid run.
    gate, sysctls, emulator
        For the provenance.
    counters : dict
        Counters of other programs and their difference from the router; empty if not requested.
    """

    workload: Workload
    layout: Layout
    raw: RawReadings
    gate: dict[str, float]
    faults: list[str]
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

    Raises
    ------
    EngineUnavailable, TestbedError
        This machine cannot run it, or refused a step. Everything created is removed.
    """
    machine.check()
    workload, layout = draw(scenario, seed), lay_out(scenario)
    if watched is not None:
        watched.check(len(workload))
    with ExitStack() as made:
        made.enter_context(congestion.ensure(controls_of(scenario)))
        record = made.enter_context(recording())
        pair = made.enter_context(pair_for(scenario, workload, record))
        scratch = record.make_scratch()
        places = Places(pair.left.namespace, pair.right.namespace, scratch / "result.json", capture)
        plan = make_plan(scenario, workload, layout, places, watched)
        clock = WindowClock(scenario.measure.warmup, scenario.measure.duration)
        counting_them = counting(counters, pair.right.namespace, scratch, record, clock)
        counted = made.enter_context(counting_them)
        result = _run(plan, layout, scratch / "plan.json", record, progress, counted)
        compared = _compare(result, layout, counted, clock) if counters else {}
    limited = any(isinstance(group, Tcp) and group.max_window for group in scenario.traffic)
    wrong = faults(
        result.gate, window_is_limited=limited, drain_s=_shortest_drain(scenario, layout)
    )
    return FinishedRun(
        workload,
        layout,
        result.raw,
        result.gate,
        wrong,
        pair.sysctls,
        result.provenance,
        compared,
    )


def _shortest_drain(scenario: Scenario, layout: Layout) -> float:
    """Return the drain time of the smallest full buffer, in seconds."""
    return min(
        queue.buffer_packets * queue.packet_bytes * 8.0 / _highest_bps(link)
        for link in layout.links
        for queue in link.queues
    )


def _highest_bps(link: LinkSpec) -> float:
    """Return the link's rate; of one that varies, the highest."""
    trace = link.rate_trace
    return link.rate_bps if trace is None else max(rate for _, rate in trace.rates)


def controls_of(scenario: Scenario) -> list[str]:
    """Return the congestion controls of a scenario, without duplicates."""
    names = (name for group in scenario.traffic if isinstance(group, Tcp) for name in group.shares)
    return list(dict.fromkeys(names))


def _run(
    plan: dict[str, Any],
    layout: Layout,
    path: Path,
    record: RunResources,
    progress: Progress | None,
    counters: Counters,
) -> Result:
    path.write_text(json.dumps(plan))
    with Program(machine.emulator(), path, record.started) as program:
        for event in program.events():
            if event["event"] == "ready":
                counters.begin(event["began_ns"] / 1e9)
                check_queues(layout, event)
            elif event["event"] == "progress" and progress is not None:
                progress(event["done"])
    return read_result(Path(plan["result"]))


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

    Raises
    ------
    TestbedError
        One differs, in its discipline, limit or rate, for example.
    """
    planned = [built_link(link) for link in layout.links]
    if (made := ready.get("links")) != planned:
        wrong = f"the router's queues read {made} where {planned} were planned"
        raise TestbedError(wrong, _CHANGED)
