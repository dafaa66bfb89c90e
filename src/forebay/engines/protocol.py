"""The protocols of engines: `run`, and optional capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from forebay.outcome import Outcome
from forebay.outcome.trace import Trace
from forebay.progress import Progress
from forebay.scenario import Duration, Scenario


class Engine(Protocol):
    """Runs a scenario; the Outcome's intervals are over the replications, one for each seed."""

    @property
    def name(self) -> str: ...

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome: ...


class Tracing(Protocol):
    """An engine that can also trace one replication over time."""

    def trace(
        self,
        scenario: Scenario,
        *,
        step: Duration,
        flows: Sequence[int],
        seed: int,
        progress: Progress | None = None,
    ) -> Trace: ...


class Limited(Protocol):
    """An engine with a memory limit."""

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a run, in bytes."""


class Capturing(Protocol):
    """An engine that can write its packets to a file."""

    def capture_to(self, path: Path) -> None:
        """Write the packets that leave the bottleneck to `path`, in pcapng."""


class Counting(Protocol):
    """An engine whose packets can also be counted by independent tools."""

    def count_by(self, names: Sequence[str]) -> None:
        """Count them by ``"snmp"``, ``"netflow"`` or both; the provenance has the counts."""
