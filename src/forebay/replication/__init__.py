"""What every engine that plays a workload shares: the network's layout and the readings' names.

Nothing in here moves a packet or keeps a window: engines stay independent where it matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.lazy import attributes
from forebay.replication.layout import (
    COUNT_BYTES,
    Bucket,
    ClassSpec,
    FlowRoutes,
    Layout,
    LinkSpec,
    Route,
    lay_out,
)
from forebay.replication.readings import (
    BATCHES,
    MOST_BINS,
    RawReadings,
    SeedCache,
    Watched,
    n_parts,
    picoseconds,
    to_reading,
)

if TYPE_CHECKING:
    from forebay.replication.network import expand
    from forebay.replication.tracing import check_step, to_trace

__all__ = [
    "BATCHES",
    "COUNT_BYTES",
    "MOST_BINS",
    "Bucket",
    "ClassSpec",
    "FlowRoutes",
    "Layout",
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
    "to_reading",
    "to_trace",
]

# Only a network, or a trace, needs these; reading them takes a dozen files more.
_HOLDERS = {
    "check_step": "tracing",
    "expand": "network",
    "to_trace": "tracing",
}


__getattr__ = attributes(__name__, _HOLDERS)
