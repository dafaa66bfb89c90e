"""The answer of a sizing: the buffer, the evidence for it, and the curve that was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from forebay.sizing.verdict import Verdict

if TYPE_CHECKING:
    from forebay.outcome import Metric, Outcome


class LawLike(Protocol):
    """What a sizing wants of a published law's answer."""

    @property
    def law(self) -> str: ...
    @property
    def packets(self) -> float | None: ...
    @property
    def assumptions_hold(self) -> bool: ...
    @property
    def broken_assumptions(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer size three ways, with what the noise leaves open, in packets.

    ``packets`` is the smallest buffer shown to meet the goals, so it equals ``high``.
    Every buffer tried below ``low`` was shown to miss; those from ``low`` up to ``high``
    are undecided or were not told apart. ``low == high`` is a sharp answer.
    """

    packets: int
    bytes: int
    seconds: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class GoalResult:
    """One goal at the answer, or at the nearest miss where there is no answer.

    ``binding``: without this goal the answer would be smaller (or, with no answer, this
    goal is one of those that stand against it). ``pushes`` tells which way.
    """

    name: str
    sense: Literal["at least", "at most"]
    pushes: Literal["up", "down"]
    unit: str
    target: float
    reached: Metric
    verdict: Verdict
    binding: bool


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One buffer that was tried, with how many seeds, and the verdict of all goals."""

    packets: int
    seeds: int
    verdict: Verdict
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class SizeResult:
    """The smallest buffer that meets a scenario's goals, or why there is none.

    Attributes
    ----------
    buffer : the answer, None where no buffer meets all goals.
    goals : each goal at the answer or at ``nearest``.
    nearest : packets of the buffer that comes nearest to all goals; None with an answer.
    largest : largest buffer shown to meet the goals that push it down (queueing delay);
        None where there is no such goal or none binds up to the search's limit.
    limit : largest buffer that the search may try, packets.
    reason : why there is no answer; None with one.
    notes : what to know about the answer, such as how wide it is and why.
    curve : every buffer tried, sorted by packets.
    """

    scenario: str
    engine: str
    buffer: Buffer | None
    goals: tuple[GoalResult, ...]
    laws: tuple[LawLike, ...]
    curve: tuple[CurvePoint, ...]
    nearest: int | None
    largest: int | None
    limit: int
    reason: str | None
    notes: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 with an answer, 1 where the goals cannot be met."""
        return 1 if self.buffer is None else 0

    @property
    def binding(self) -> tuple[str, ...]:
        """Names of the goals that bind."""
        return tuple(goal.name for goal in self.goals if goal.binding)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``size --json`` (schema 1): JSON types only."""
        return {
            "schema": 1,
            "scenario": self.scenario,
            "engine": self.engine,
            "buffer": self.buffer and _buffer(self.buffer),
            "goals": [_goal(goal) for goal in self.goals],
            "laws": [_law(law) for law in self.laws],
            "curve": [_point(point) for point in self.curve],
            "nearest": self.nearest,
            "largest": self.largest,
            "limit": self.limit,
            "reason": self.reason,
            "notes": list(self.notes),
        }


def _buffer(buffer: Buffer) -> dict[str, Any]:
    return {name: getattr(buffer, name) for name in ("packets", "bytes", "seconds", "low", "high")}


def _goal(goal: GoalResult) -> dict[str, Any]:
    return {
        "name": goal.name,
        "sense": goal.sense,
        "pushes": goal.pushes,
        "unit": goal.unit,
        "target": goal.target,
        "reached": goal.reached.model_dump(mode="json"),
        "verdict": str(goal.verdict),
        "binding": goal.binding,
    }


def _law(law: LawLike) -> dict[str, Any]:
    return {
        "law": law.law,
        "packets": law.packets,
        "assumptions_hold": law.assumptions_hold,
        "broken_assumptions": list(law.broken_assumptions),
        "source": law.source,
    }


def _point(point: CurvePoint) -> dict[str, Any]:
    return {
        "packets": point.packets,
        "seeds": point.seeds,
        "verdict": str(point.verdict),
        "outcome": point.outcome.model_dump(mode="json", by_alias=True),
    }
