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
from forebay.outcome.metrics import summarize
from forebay.outcome.model import (
    ClassOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Provenance,
    Quantiles,
)
from forebay.outcome.reading import ClassReading, Histogram, LinkReading, Reading, RoundTrips

__all__ = [
    "DELAY_MAXIMUM",
    "FCT_INCREASE",
    "LOSS_PROBABILITY",
    "UTILIZATION_PROBABILITY",
    "ClassOutcome",
    "ClassReading",
    "Histogram",
    "LinkOutcome",
    "LinkReading",
    "Metric",
    "Outcome",
    "Provenance",
    "Quantiles",
    "Reading",
    "RoundTrips",
    "delay_quantile_name",
    "needs_round_trips",
    "summarize",
]
