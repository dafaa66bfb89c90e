"""Converts the core's records of flows to rows of the table of flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS
from forebay.engines.replication.readings import ideal_s
from forebay.files.columns import BLOCK_ROWS
from forebay.outcome.flow_table import FlowTable
from forebay.outcome.metrics import goodput_bits
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout
    from forebay.engines.replication.readings import (
        RawFlowRecords,
    )
    from forebay.outcome import Reading
    from forebay.scenario import Scenario
    from forebay.workload import Workload


_PS_PER_S = 1e12
ROUTE_SEPARATOR = "; "
"""Between the names of the links of a route."""


Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class FlowRows:
    """One replication's rows, which are made block by block: records take less memory.

    ``reading`` is that of the same run: the bytes of a class's rows are cut alike to its goodput.
    """

    scenario: Scenario
    seed: int
    workload: Workload
    layout: Layout
    records: RawFlowRecords
    reading: Reading

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.records)

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks; without rows, one without rows."""
        for first in range(0, max(self.rows, 1), BLOCK_ROWS):
            raw = self.records.columns(first, first + BLOCK_ROWS)
            yield _to_table(self, raw)


def _counted(reading: Reading) -> NDArray[np.float64]:
    """Return the share of each class's in-order bytes that its goodput counts."""
    got = np.array([each.goodput_bits.sum() for each in reading.classes])
    counted = np.array([goodput_bits(each).sum() for each in reading.classes])
    return np.asarray(np.divide(counted, got, out=np.ones(got.size), where=got > 0))


def _to_table(of: FlowRows, raw: Columns) -> FlowTable:
    scenario, workload, layout = of.scenario, of.workload, of.layout
    flow = raw["flow"]
    group, packet = workload.traffic_class[flow], workload.packet_bytes[flow]
    counted = raw["window_bytes"] * _counted(of.reading)[group]
    tcp = np.array([isinstance(each, Tcp) for each in scenario.traffic])[group]
    ending = np.array([KINDS[each.kind].completes for each in scenario.traffic])
    has_end = (raw["segments"] >= 0) & ending[group]
    ideal = ideal_s(layout, workload, raw)
    payload = np.array(
        [each.payload if isinstance(each, Tcp) else np.nan for each in scenario.traffic]
    )[group]
    took_s = raw["last_byte_s"] - raw["start_s"]
    return FlowTable(
        {
            "seed": np.full(flow.size, of.seed, dtype=np.int64),
            "class": _texts(scenario.class_names)[group],
            "flow": flow,
            "transfer": raw["transfer"],
            "control": _controls(workload, flow, tcp),
            "route": _routes(layout, flow, group),
            "rtt_s": np.where(tcp, workload.rtt_ps[flow] / _PS_PER_S, np.nan),
            "start_s": raw["start_s"],
            "size_bytes": np.where(has_end, raw["segments"] * packet.astype(np.float64), np.nan),
            "application_bytes": np.where(has_end, raw["segments"] * payload, np.nan),
            "first_byte_s": raw["first_byte_s"],
            "last_byte_s": np.where(has_end, raw["last_byte_s"], np.nan),
            "window_bytes": np.rint(counted).astype(np.int64),
            "segments_sent": raw["sent"],
            "segments_lost": raw["lost"],
            "segments_retransmitted": raw["retransmitted"],
            "timeouts": raw["timeouts"],
            "marks": raw["marks"],
            "min_rtt_s": raw["min_rtt_s"],
            "mean_rtt_s": raw["mean_rtt_s"],
            "unfinished": has_end & np.isnan(raw["last_byte_s"]),
            "ideal_s": np.where(has_end, ideal, np.nan),
            "slowdown": np.where(has_end, took_s / ideal, np.nan),
        }
    )


def _texts(values: Any) -> NDArray[np.object_]:
    return np.array([*values, ""], dtype=object)[:-1]


def _controls(
    workload: Workload, flow: NDArray[np.int64], tcp: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Return the congestion controls; empty for open-loop flows."""
    names = _texts([*workload.congestion_controls, ""])
    none = len(names) - 1
    return np.asarray(names[np.where(tcp, workload.congestion_control[flow], none)])


def _routes(
    layout: Layout, flow: NDArray[np.int64], group: NDArray[np.int32]
) -> NDArray[np.object_]:
    """Return the reported links that each flow's data crosses."""
    route = group if layout.flows is None else layout.flows.route[flow]
    used, place = np.unique(route, return_inverse=True)
    links = layout.links
    names = [
        ROUTE_SEPARATOR.join(links[at].name for at in layout.routes[each][0] if at < len(links))
        for each in used.tolist()
    ]
    return np.asarray(_texts(names)[place])
