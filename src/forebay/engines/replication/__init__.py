"""What all engines that run a workload share: the layout of links and the names of readings.

Nothing here simulates a packet or a window, because engines must stay independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engines.replication.layout import (
    COUNT_BYTES,
    Bucket,
    ClassSpec,
    FlowRoutes,
    Layout,
    LinkJitter,
    LinkLoss,
    LinkSpec,
    Route,
    lay_out,
)
from forebay.engines.replication.readings import (
    BATCHES,
    MOST_BINS,
    RawReadings,
    Watched,
    n_parts,
    picoseconds,
    to_reading,
)
from forebay.engines.replication.seed_cache import SeedCache
from forebay.lazy import attributes

if TYPE_CHECKING:
    from forebay.engines.replication.flow_rows import FlowRows
    from forebay.engines.replication.layout import expand, problem_of
    from forebay.engines.replication.tracing import check_step, to_trace

__all__ = [
    "BATCHES",
    "COUNT_BYTES",
    "MOST_BINS",
    "Bucket",
    "ClassSpec",
    "FlowRoutes",
    "FlowRows",
    "Layout",
    "LinkJitter",
    "LinkLoss",
    "LinkSpec",
    "RawReadings",
    "Route",
    "SeedCache",
    "Watched",
    "check_step",
    "expand",
    "lay_out",
    "n_parts",
    "picoseconds",
    "problem_of",
    "to_reading",
    "to_trace",
]

# Needed only for a network, a trace or a table of flows; importing them imports a dozen more files.
_HOLDERS = {
    "check_step": "tracing",
    "expand": "layout",
    "problem_of": "layout",
    "FlowRows": "flow_rows",
    "to_trace": "tracing",
}


__getattr__ = attributes(__name__, _HOLDERS)
