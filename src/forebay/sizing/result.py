"""The answer of a sizing: the buffer, the evidence for it, and the curve that was seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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


class GovernsLike(Protocol):
    """What a sizing wants of the law that governs a link: words for a person."""

    @property
    def regime(self) -> str: ...
    @property
    def law(self) -> str | None: ...
    @property
    def why(self) -> str: ...
    @property
    def would_change(self) -> str: ...


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
    pushes: Literal["up", "down", "either"]
    unit: str
    target: float
    reached: Metric
    verdict: Verdict
    binding: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """Buffers that meet all goals, packets, both ends included.

    ``high`` is None where all sizes up to the search's limit do. ``binding_low`` and
    ``binding_high`` name the goals not met just below and just above; none below 1 packet.
    """

    low: int
    high: int | None
    binding_low: tuple[str, ...]
    binding_high: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The least that one goal must give way, the others kept, for a buffer to exist.

    ``relaxed`` is the target that is met, as ``reached`` shows, with a buffer of ``packets``,
    which meets the others too. All three are None where giving up this goal does not help.
    """

    name: str
    title: str
    sense: Literal["at least", "at most"]
    unit: str
    target: float
    relaxed: float | None
    packets: int | None
    reached: Metric | None


@dataclass(frozen=True, slots=True)
class FlowsEnd:
    """The answer at one end of the range of flows; ``buffer`` is None where there is none."""

    flows: int
    buffer: Buffer | None
    region: tuple[Interval, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class GoalAtPoint:
    """One goal at one buffer that was tried."""

    name: str
    reached: Metric
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One buffer that was tried, with how many seeds; the verdict of all goals, and of each."""

    packets: int
    seeds: int
    verdict: Verdict
    outcome: Outcome
    goals: tuple[GoalAtPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class LossWarning:
    """Loss at the answer that is above what is called usable.

    Attributes
    ----------
    loss : the largest loss rate seen there; ``of`` is the class that has it, "" for the link.
    usable, source : the bound, and who calls it so.
    packets : the smallest buffer tried that keeps all of them below; None where none does.
    missed : names of the goals that are not met there.
    largest : the largest buffer tried, and ``loss_there`` what is lost with it.
    """

    loss: float
    of: str
    usable: float
    source: str
    packets: int | None
    missed: tuple[str, ...]
    largest: int
    loss_there: float


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
    region : all buffers that meet the goals; several intervals where a goal is met between
        sizes that miss. Empty without an answer.
    relaxations : without an answer, one for every goal.
    governs : which law governs the link, why, and what would change it.
    evidence : what the engine saw at the answer, or at ``nearest``, in sentences.
    loss_warning : where more is lost at the answer than a published criterion calls usable.
    aqm : where the queue's discipline manages itself, what was sized instead of its limit:
        ``discipline``, ``parameter`` ("target" or "min"), ``target_s`` and ``interval_s`` or
        ``min_bytes`` and ``max_bytes``, and ``limit_packets``, the guard. All packets of the
        result are then those of the queue that it aims at. None elsewhere.
    interrupted : whether it was stopped before the search had ended.
    ends : where flows are a range, the answer at its low and at its high end; ``buffer`` then
        serves both, and ``curve`` is the one of the end that asks for more.
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
    region: tuple[Interval, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    governs: GovernsLike | None = None
    evidence: tuple[str, ...] = ()
    ends: tuple[FlowsEnd, ...] = ()
    loss_warning: LossWarning | None = None
    interrupted: bool = False
    aqm: dict[str, Any] | None = None

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
            "region": [_interval(interval) for interval in self.region],
            "relaxations": [_relaxation(relaxation) for relaxation in self.relaxations],
            "governs": self.governs and _governs(self.governs),
            "evidence": list(self.evidence),
            "flows": [_end(end) for end in self.ends],
            "loss_warning": self.loss_warning and _warning(self.loss_warning),
            "interrupted": self.interrupted,
            "aqm": self.aqm,
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
        "title": goal.title,
    }


def _warning(warning: LossWarning) -> dict[str, Any]:
    return asdict(warning) | {"missed": list(warning.missed)}


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "low": interval.low,
        "high": interval.high,
        "binding_low": list(interval.binding_low),
        "binding_high": list(interval.binding_high),
    }


def _relaxation(relaxation: Relaxation) -> dict[str, Any]:
    plain = ("name", "title", "sense", "unit", "target", "relaxed", "packets")
    reached = relaxation.reached
    return {name: getattr(relaxation, name) for name in plain} | {
        "reached": reached and reached.model_dump(mode="json")
    }


def _governs(governs: GovernsLike) -> dict[str, Any]:
    return {name: getattr(governs, name) for name in ("regime", "law", "why", "would_change")}


def _end(end: FlowsEnd) -> dict[str, Any]:
    return {
        "flows": end.flows,
        "buffer": end.buffer and _buffer(end.buffer),
        "region": [_interval(interval) for interval in end.region],
        "reason": end.reason,
    }


def _law(law: LawLike) -> dict[str, Any]:
    between: tuple[float, float] | None = getattr(law, "between", None)  # where flows are a range
    return {
        "law": law.law,
        "packets": law.packets,
        "packets_whole": getattr(law, "packets_whole", None),
        "assumptions_hold": law.assumptions_hold,
        "broken_assumptions": list(law.broken_assumptions),
        "source": law.source,
        "packets_between": between and list(between),
    }


def _point(point: CurvePoint) -> dict[str, Any]:
    return {
        "packets": point.packets,
        "seeds": point.seeds,
        "verdict": str(point.verdict),
        "goals": [
            {
                "name": g.name,
                "reached": g.reached.model_dump(mode="json"),
                "verdict": str(g.verdict),
            }
            for g in point.goals
        ],
        "outcome": point.outcome.model_dump(mode="json", by_alias=True),
    }


def _at_point(goal: GoalAtPoint) -> dict[str, Any]:
    reached = goal.reached.model_dump(mode="json")
    return {"name": goal.name, "reached": reached, "verdict": str(goal.verdict)}
