"""Answers: the Outcome every engine gives, the readings it is made from, the metrics between."""

from __future__ import annotations

from forebay.outcome.asked import (
    DELAY_MAXIMUM,
    FCT_INCREASE,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    delay_quantile_name,
    needs_round_trips,
)
from forebay.outcome.invariants import ImpossibleOutcome, checked, violations
from forebay.outcome.metrics import summarize
from forebay.outcome.model import (
    ClassOutcome,
    ControllerOutcome,
    HopsOutcome,
    LinkOutcome,
    Metric,
    NetworkOutcome,
    Outcome,
    Provenance,
    Quantiles,
)
from forebay.outcome.reading import (
    ClassReading,
    ControllerReading,
    Histogram,
    LinkReading,
    Reading,
    RoundTrips,
)
from forebay.outcome.reading_invariants import violations_of_reading
from forebay.outcome.violation import Violation

__all__ = [
    "DELAY_MAXIMUM",
    "FCT_INCREASE",
    "LOSS_PROBABILITY",
    "UTILIZATION_PROBABILITY",
    "ClassOutcome",
    "ClassReading",
    "ControllerOutcome",
    "ControllerReading",
    "Histogram",
    "HopsOutcome",
    "ImpossibleOutcome",
    "LinkOutcome",
    "LinkReading",
    "Metric",
    "NetworkOutcome",
    "Outcome",
    "Provenance",
    "Quantiles",
    "Reading",
    "RoundTrips",
    "Violation",
    "checked",
    "delay_quantile_name",
    "needs_round_trips",
    "summarize",
    "violations",
    "violations_of_reading",
]
