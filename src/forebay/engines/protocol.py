"""The one method that every engine has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from forebay.outcome import Outcome
from forebay.outcome.trace import Trace
from forebay.progress import Progress
from forebay.scenario import Duration, Scenario


class Engine(Protocol):
    """Answers a scenario; replications (one per seed) become intervals in the Outcome."""

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
    """An engine that can also watch one replication over time."""

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
    """An engine that takes no more memory than it may."""

    def limit_memory(self, octets: int) -> None:
        """Let a run take so many bytes instead of the default."""


class Capturing(Protocol):
    """An engine whose packets can be written to a file."""

    def capture_to(self, path: Path) -> None:
        """Have the packets that leave the bottleneck written there, in pcapng."""


class Counting(Protocol):
    """An engine whose packets others can count beside it."""

    def count_by(self, names: Sequence[str]) -> None:
        """Have them counted by ``"snmp"``, ``"netflow"`` or both; see the provenance."""
