"""The sizes of a port's class queues, found together under one memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from forebay.outcome.model import Metric, Outcome
from forebay.outcome.size_result import Verdict


@dataclass(frozen=True, slots=True)
class ClassQueueSize:
    """One class queue.

    Attributes
    ----------
    traffic : names of its traffic classes.
    is_sized : whether its size was sought; a size that is written is kept.
    packets, bytes : the size to configure; bytes with its largest packet.
    seconds : the size at the port's rate, s.
    low, high : interval of the least with the others as they are, packets; None if it was kept, or
        no size of it meets its goals.
    error : one line why it has no size that meets its goals, or none that is recommended.
    """

    name: str
    traffic: tuple[str, ...]
    is_sized: bool
    packets: int
    bytes: int
    seconds: float
    low: int | None = None
    high: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class JointGoal:
    """A goal with all class queues at their sizes; ``reached`` is None if it was not measured."""

    text: str
    reached: Metric | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ClassQueueSizes:
    """All class queues of a port, and a run with all of them at their sizes.

    Attributes
    ----------
    wanted_bytes : what the sizes take together; more than `memory_bytes` if they were cut.
    memory_bytes : the memory of the port; None if it was not given.
    passes : how often each queue was sized with the others at their latest sizes.
    is_steady : whether the last pass moved no size out of its interval.
    outcome : the port with all queues at these sizes; its scenario has them.
    """

    engine: str
    queues: tuple[ClassQueueSize, ...]
    wanted_bytes: int
    memory_bytes: int | None
    passes: int
    is_steady: bool
    goals: tuple[JointGoal, ...]
    outcome: Outcome

    @property
    def bytes(self) -> int:
        """Bytes of all queues together."""
        return sum(each.bytes for each in self.queues)

    @property
    def is_cut(self) -> bool:
        """Whether the memory holds less than the sizes that were found."""
        return self.memory_bytes is not None and self.wanted_bytes > self.memory_bytes

    @property
    def exit_status(self) -> int:
        """0 if all goals are met together, 1 if one is missed, 3 if the evidence is short."""
        verdicts = {each.verdict for each in self.goals}
        if Verdict.MISSED in verdicts:
            return 1
        return 3 if Verdict.UNDECIDED in verdicts or any(q.error for q in self.queues) else 0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        goals = [
            {"goal": each.text, "verdict": str(each.verdict), "reached": _json(each.reached)}
            for each in self.goals
        ]
        return {
            "schema": 1, "engine": self.engine,
            "class_queues": [asdict(each) for each in self.queues], "bytes": self.bytes,
            "wanted_bytes": self.wanted_bytes, "memory_bytes": self.memory_bytes,
            "passes": self.passes, "steady": self.is_steady, "goals": goals,
            "outcome": self.outcome.to_dict(),
        }  # fmt: skip


def _json(metric: Metric | None) -> dict[str, Any] | None:
    return None if metric is None else metric.model_dump(mode="json")
