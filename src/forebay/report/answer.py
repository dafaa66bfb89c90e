"""The document of ``size --json``, read back: a report needs no sizing to be made."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from forebay.outcome import LinkOutcome, Metric, Outcome
from forebay.report.numbers import count, duration, with_prefix

LINK = "bottleneck"


_METRICS = {
    "loss_rate": "loss",
    "queue_delay_mean": "mean queueing delay",
    "queue_delay_p99": "p99 of the queueing delay",
    "fct_mean": "mean completion time",
    "fct_p99": "p99 of the completion time",
    "fct_increase": "increase of the completion time over no drops",
    "realtime_loss": "loss of the real-time classes",
}
"""Metrics of goals in words, where the name alone does not say it."""


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
    pushes: Literal["up", "down", "either", ""] = ""

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


class GoalAtPoint(_Part):
    """One goal at one buffer."""

    name: str
    reached: Metric
    verdict: Literal["met", "missed", "undecided"]


class LossWarning(_Part):
    """Loss at the answer above what is called usable, and the buffer that would keep it so."""

    loss: float
    of: str
    usable: float
    source: str
    packets: int | None
    missed: tuple[str, ...]
    largest: int
    loss_there: float


class Aqm(_Part):
    """What was sized under a discipline that manages its queue: its aim; the limit is a guard."""

    discipline: str
    parameter: Literal["target", "min"]
    packet_s: float
    packet_bytes: int
    limit_packets: int
    ecn: bool = False
    target_s: float | None = None
    interval_s: float | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None


class Point(_Part):
    """One buffer that was tried."""

    packets: int
    seeds: int
    verdict: Literal["met", "missed", "undecided"]
    outcome: Outcome
    goals: tuple[GoalAtPoint, ...] = ()

    def reached(self, name: str) -> Metric | None:
        """What a goal's metric is here; None where the document does not say."""
        return next((goal.reached for goal in self.goals if goal.name == name), None)

    def unmet(self) -> list[str]:
        """Names of the goals that this buffer is not shown to meet."""
        return [goal.name for goal in self.goals if goal.verdict != "met"]

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
    loss_warning: LossWarning | None = None
    interrupted: bool = False
    aqm: Aqm | None = None

    def sized(self, packets: int) -> str:
        """A size as what was sized: "72 packets", or the target or min that stands for them."""
        if self.aqm is None:
            return count(packets, "packet")
        if self.aqm.parameter == "min":
            return f"a min of {with_prefix(max(packets, 2) * self.aqm.packet_bytes, 'B')}"
        return f"a target of {duration(packets * self.aqm.packet_s)}"

    @property
    def size_name(self) -> str:
        """What is sized, as a column or an axis is called."""
        if self.aqm is None:
            return "buffer"
        return "min" if self.aqm.parameter == "min" else "target"

    @property
    def chosen(self) -> int | None:
        """Packets of the answer, or of the nearest miss."""
        return self.buffer.packets if self.buffer else self.nearest

    @property
    def there(self) -> Point | None:
        """The point of the curve at the answer, or at the nearest miss."""
        return next((point for point in self.curve if point.packets == self.chosen), None)

    @property
    def class_names(self) -> list[str]:
        """Names of the classes of traffic, in the scenario's order."""
        return [each.name for each in self.curve[0].outcome.classes] if self.curve else []

    def words(self, name: str) -> str:
        """A goal's metric in words, a class by its name."""
        told = next((goal.words for goal in self.goals if goal.name == name), "")
        parts = name.split(".")
        names = self.class_names
        if parts[0] == "traffic" and len(parts) == 3 and int(parts[1]) < len(names):
            return f"{_METRICS.get(parts[2], parts[2])} of {names[int(parts[1])]}"
        return _METRICS.get(name) or told or name.replace("_", " ")

    def short(self, name: str) -> str:
        """A goal as a scenario writes it, a class by its name: "fct_p99 of web"."""
        parts, names = name.split("."), self.class_names
        if parts[0] == "traffic" and len(parts) == 3 and int(parts[1]) < len(names):
            return f"{parts[2]} of {names[int(parts[1])]}"
        return name

    @property
    def bdp_packets(self) -> float | None:
        """Bandwidth-delay product, None where no buffer was tried."""
        return self.curve[0].link.bdp_packets if self.curve else None

    @property
    def seeds(self) -> int:
        """Replications of the buffer that had the most."""
        return max((point.seeds for point in self.curve), default=0)
