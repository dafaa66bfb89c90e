"""Files of packets: the table of what became of each, and captures of links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forebay.files.columns import BLOCK_ROWS, write_columns
from forebay.scenario import BOTTLENECK

if TYPE_CHECKING:
    from forebay import _core
    from forebay.engines.replication import Layout
    from forebay.files.columns import Block
    from forebay.scenario import Scenario
    from forebay.workload import Workload


@dataclass(frozen=True, slots=True)
class PacketFiles:
    """Where the packets of the next replication are written; None where they are not.

    Attributes
    ----------
    capture : a pcapng file: behind a scenario's only link, or an interface for each link.
    table : a .csv or .parquet file, a row for everything that happens to a packet at a link.
    """

    capture: Path | None = None
    table: Path | None = None

    def write(
        self,
        scenario: Scenario,
        workload: Workload,
        layout: Layout,
        packets: _core.Packets | None,
        log: _core.PacketLog | None,
    ) -> None:
        """Write what is asked for. Raises OSError, MissingPackage."""
        names = [link.name for link in layout.links]
        if self.capture is not None and packets is not None:
            packets.write(self.capture, [BOTTLENECK, "acks"], _window(scenario))
        elif self.capture is not None and log is not None:
            log.write_capture(self.capture, names, _window(scenario))
        if self.table is not None and log is not None:
            write_columns(self.table, _blocks(scenario, workload, names, log))


def _window(scenario: Scenario) -> str:
    """Return the comment of a capture; the testbed's has the same words."""
    begin = float(scenario.measure.warmup)
    end = begin + float(scenario.measure.duration)
    return f"forebay: the measured window, {begin:g} s to {end:g} s"


def _blocks(
    scenario: Scenario, workload: Workload, links: list[str], log: _core.PacketLog
) -> Iterator[Block]:
    """Yield the rows of a log in blocks; of one without rows, a block without rows."""
    names = {
        "link": np.array(links, dtype=object),
        "event": np.array(log.EVENTS, dtype=object),
        "class": np.array(scenario.class_names, dtype=object),
        "packet": np.array(["data", "ack"], dtype=object),
    }
    for first in range(0, max(len(log), 1), BLOCK_ROWS):
        raw = log.columns(first, first + BLOCK_ROWS)
        flow, transfer = raw["flow"], raw["connection"]
        if (periods := workload.periods) is not None:  # each on-time is a flow of the simulator
            flow, transfer = periods.owner[flow], transfer + periods.number[flow]
        yield {
            "time_s": raw["at_ps"] / 1e12,
            "link": names["link"][raw["link"]],
            "event": names["event"][raw["event"]],
            "class": names["class"][workload.traffic_class[flow]],
            "flow": flow,
            "transfer": transfer,
            "packet": names["packet"][raw["ack"]],
            "sequence": raw["sequence"],
            "bytes": raw["bytes"],
        }
