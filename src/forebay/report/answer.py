"""The document of ``size --json``, read back: a report needs no sizing to be made."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from forebay.outcome import LinkOutcome, Metric, Outcome

LINK = "bottleneck"


class _Part(BaseModel):
    """Later fields of the document are no business of this reader."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Buffer(_Part):
    """The answer three ways; noise leaves open what lies from ``low`` to ``high`` packets."""

    packets: int
    bytes: int
    seconds: float
    low: int
    high: int


class Goal(_Part):
    """One goal and what was reached, at the answer or at the nearest miss."""

    name: str
    sense: Literal["at least", "at most"]
    unit: str
    target: float
    reached: Metric
    verdict: Literal["met", "missed", "undecided"]
    binding: bool
    title: str = ""

    @property
    def words(self) -> str:
        """The metric in words."""
        return self.title or self.name.replace("_", " ")


class Interval(_Part):
    """Buffers that meet all goals; ``high`` is None where all larger ones tried do."""

    low: int
    high: int | None
    binding_low: tuple[str, ...]
    binding_high: tuple[str, ...]


class Relaxation(_Part):
    """How little one goal must give way, the others kept; None where that does not help."""

    name: str
    title: str
    sense: Literal["at least", "at most"]
    unit: str
    target: float
    relaxed: float | None
    packets: int | None

    @property
    def words(self) -> str:
        """The metric in words."""
        return self.title or self.name.replace("_", " ")


class Governs(_Part):
    """Which law governs the link, why, and what would change it."""

    regime: str
    law: str | None
    why: str
    would_change: str


class FlowsEnd(_Part):
    """The answer at one end of a range of flows."""

    flows: int
    buffer: Buffer | None
    reason: str | None


class Memory(_Part):
    """What memory the buffer takes, in words; whoever knows it adds it to the document."""

    text: str


class Law(_Part):
    """What one published law asks for; ``packets`` is None where it has no answer."""

    law: str
    packets: float | None
    assumptions_hold: bool
    broken_assumptions: tuple[str, ...]
    source: str
    packets_between: tuple[float, float] | None = None


class Point(_Part):
    """One buffer that was tried."""

    packets: int
    seeds: int
    verdict: Literal["met", "missed", "undecided"]
    outcome: Outcome

    @property
    def link(self) -> LinkOutcome:
        """The link that the buffer stands before."""
        return self.outcome.links[LINK]


class Answer(_Part):
    """A whole sizing (schema 1)."""

    schema_version: Literal[1] = 1
    scenario: str
    engine: str
    buffer: Buffer | None
    goals: tuple[Goal, ...]
    laws: tuple[Law, ...]
    curve: tuple[Point, ...]
    nearest: int | None
    limit: int
    reason: str | None
    notes: tuple[str, ...]
    region: tuple[Interval, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    governs: Governs | None = None
    evidence: tuple[str, ...] = ()
    flows: tuple[FlowsEnd, ...] = ()
    memory: Memory | None = None

    @property
    def bdp_packets(self) -> float | None:
        """Bandwidth-delay product, None where no buffer was tried."""
        return self.curve[0].link.bdp_packets if self.curve else None

    @property
    def seeds(self) -> int:
        """Replications of the buffer that had the most."""
        return max((point.seeds for point in self.curve), default=0)
