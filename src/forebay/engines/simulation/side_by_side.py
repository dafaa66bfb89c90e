"""Replications of one scenario, simulated side by side, as many as fit into memory."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay import _core
from forebay.engines.footprint import Limit, TooMuchMemory, estimate
from forebay.engines.replication import lay_out, to_reading
from forebay.engines.simulation.foreign_controls import faults_named, watched
from forebay.engines.simulation.runs import Draws, by_flow, make_run
from forebay.errors import panics_as_defects
from forebay.outcome import Reading
from forebay.progress import enter, part

if TYPE_CHECKING:
    from forebay.engines.replication import FlowRows, Layout, RawReadings
    from forebay.engines.simulation.packet_files import PacketFiles
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.workload import Workload

_REPORT_S = 0.005
"""Between two looks at memory while workloads are drawn."""
STRUCTURES = _core.structure_bytes()


@dataclass(frozen=True, slots=True)
class Kept:
    """What an engine keeps: workloads; rows of flows and files of packets if asked.

    ``held_bytes`` are those of its readings.
    """

    draws: Draws | None
    held_bytes: float
    flows: dict[int, FlowRows] | None
    files: PacketFiles | None


def simulate(
    scenario: Scenario,
    seeds: list[int],
    jobs: int,
    progress: Progress | None,
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
        from forebay.engines.replication import expand
        from forebay.engines.simulation.routing import route

        _, routed = route(scenario, limit, progress)
        scenario, network = expand(scenario, buffers)
        enter(progress, "packets")
    recorded = engine.flows is not None
    takes = estimate(
        scenario, STRUCTURES, recorded=recorded, captured=engine.files is not None, network=network,
        routed=routed,
    )  # fmt: skip
    limit.check(takes, len(seeds))
    keeps = network is None and takes.least(len(seeds)) <= limit.octets // 2
    held_bytes = engine.held_bytes + (engine.draws.held_bytes if keeps and engine.draws else 0.0)
    threads, together = limit.side_by_side(takes, len(seeds), jobs, held_bytes)
    watching = limit.watch(progress)
    found: dict[int, Reading] = {}
    while left := [seed for seed in seeds if seed not in found]:
        report = _part_of(watching, len(found), len(seeds), len(left[:together]))
        kept = replace(engine, draws=engine.draws if keeps else None)
        try:
            found |= _side_by_side(scenario, network, left[:together], threads, report, kept)
        except TooMuchMemory:
            if together == 1:
                raise
            threads = together = 1
    return found, takes.reading


def _part_of(progress: Progress, first: int, seeds: int, some: int) -> Progress | None:
    """Return the progress of a part of the replications, if memory does not hold all."""
    if some == seeds:
        return progress
    return part(progress, first, seeds, some)


def _side_by_side(
    scenario: Scenario,
    network: Layout | None,
    seeds: list[int],
    jobs: int,
    progress: Progress | None,
    kept: Kept,
) -> dict[int, Reading]:
    made, seen_at = {}, -math.inf
    layout = lay_out(scenario) if network is None else network
    for seed in seeds:
        if progress is not None and time.monotonic() - seen_at > _REPORT_S:
            progress(0.0)
            seen_at = time.monotonic()
        workload = None if kept.draws is None else kept.draws.draw(scenario, seed)
        made[seed] = make_run(
            scenario, seed, layout=layout, workload=workload,
            flow_records=kept.flows is not None, files=kept.files,
        )  # fmt: skip
    with panics_as_defects(), faults_named(), watched():
        raw = _core.simulate([run for run, *_ in made.values()], jobs=jobs, progress=progress)
    if network is not None:
        enter(progress, "readings")
    found = {}
    for (seed, (_, workload, own)), each in zip(made.items(), raw, strict=True):
        seen = by_flow(each, workload)
        found[seed] = to_reading(scenario, seed, workload, own, seen)
        if kept.flows is not None:
            kept.flows[seed] = _flow_rows(scenario, workload, own, seen, found[seed])
        if kept.files is not None:
            packets, log = each["capture"], each["packet_log"]
            kept.files.write(scenario, workload, own, packets, log)
    return found


def _flow_rows(
    scenario: Scenario, workload: Workload, layout: Layout, raw: RawReadings, reading: Reading
) -> FlowRows:
    from forebay.engines.replication import FlowRows

    records = raw.get("flow_records")
    assert records is not None, "flow_records=True"
    return FlowRows(scenario, reading.seed, workload, layout, records, reading)
