"""Answers: the Outcome of every engine, its raw readings, and the metrics computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome.document import Document, DocumentError, LinkRates, parse
from forebay.outcome.invariants import ImpossibleOutcome, Violation, checked, violations
from forebay.outcome.model import (
    DELAY_MAXIMUM,
    FCT_INCREASE,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    ClassOutcome,
    Comparison,
    ControllerOutcome,
    HopsOutcome,
    LinkOutcome,
    Metric,
    NetworkOutcome,
    Outcome,
    Provenance,
    Quantiles,
    delay_quantile_name,
)
from forebay.outcome.size_result import (
    Aqm,
    AqmTarget,
    AqmThresholds,
    Buffer,
    Cheaper,
    Cost,
    CurvePoint,
    Direction,
    Floor,
    FlowsEnd,
    GoalAtPoint,
    GoalResult,
    Interval,
    LawResult,
    LinkRegime,
    LinkSize,
    Memory,
    Price,
    Recommended,
    Relaxation,
    Scaled,
    ScaledLink,
    Sense,
    SizeResult,
    Unit,
    Verdict,
)
from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome.metrics import summarize
    from forebay.outcome.reading import (
        ClassReading,
        ControllerReading,
        Histogram,
        LinkReading,
        LongFlows,
        Reading,
        RoundTrips,
        Slowdowns,
    )
    from forebay.outcome.reading_invariants import violations_of_reading, violations_of_readings

__all__ = [
    "DELAY_MAXIMUM",
    "FCT_INCREASE",
    "LOSS_PROBABILITY",
    "UTILIZATION_PROBABILITY",
    "Aqm",
    "AqmTarget",
    "AqmThresholds",
    "Buffer",
    "Cheaper",
    "ClassOutcome",
    "ClassReading",
    "Comparison",
    "ControllerOutcome",
    "ControllerReading",
    "Cost",
    "CurvePoint",
    "Direction",
    "Document",
    "DocumentError",
    "Floor",
    "FlowsEnd",
    "GoalAtPoint",
    "GoalResult",
    "Histogram",
    "HopsOutcome",
    "ImpossibleOutcome",
    "Interval",
    "LawResult",
    "LinkOutcome",
    "LinkRates",
    "LinkReading",
    "LinkRegime",
    "LinkSize",
    "LongFlows",
    "Memory",
    "Metric",
    "NetworkOutcome",
    "Outcome",
    "Price",
    "Provenance",
    "Quantiles",
    "Reading",
    "Recommended",
    "Relaxation",
    "RoundTrips",
    "Scaled",
    "ScaledLink",
    "Sense",
    "SizeResult",
    "Slowdowns",
    "Unit",
    "Verdict",
    "Violation",
    "checked",
    "delay_quantile_name",
    "parse",
    "summarize",
    "violations",
    "violations_of_reading",
    "violations_of_readings",
]

# Only engines that measure need these: import them on first use.
_READING = (
    "ClassReading", "ControllerReading", "Histogram", "LinkReading", "LongFlows", "Reading",
    "RoundTrips", "Slowdowns",
)  # fmt: skip
_HOLDERS = {
    "summarize": "metrics",
    "violations_of_reading": "reading_invariants",
    "violations_of_readings": "reading_invariants",
} | dict.fromkeys(_READING, "reading")
__getattr__ = attributes(__name__, _HOLDERS)
