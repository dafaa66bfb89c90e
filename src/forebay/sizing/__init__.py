"""Find the smallest buffer that meets the goals, with a given engine."""

from forebay.outcome import (
    Buffer,
    CurvePoint,
    FlowsEnd,
    GoalResult,
    Interval,
    Relaxation,
    SizeResult,
    Verdict,
)
from forebay.sizing.answer import Interrupted, size
from forebay.sizing.goals import (
    GOAL_KINDS,
    Goal,
    GoalKind,
    GoalNotAnswered,
    NobodyCrosses,
    NoGoals,
    SizingError,
    goals_of,
)

__all__ = [
    "GOAL_KINDS",
    "Buffer",
    "CurvePoint",
    "FlowsEnd",
    "Goal",
    "GoalKind",
    "GoalNotAnswered",
    "GoalResult",
    "Interrupted",
    "Interval",
    "NoGoals",
    "NobodyCrosses",
    "Relaxation",
    "SizeResult",
    "SizingError",
    "Verdict",
    "goals_of",
    "size",
]
