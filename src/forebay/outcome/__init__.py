"""Answers: the Outcome every engine gives, the readings it is made from, the metrics between."""

from __future__ import annotations

from forebay.outcome.metrics import summarize
from forebay.outcome.model import (
    ClassOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Provenance,
    Quantiles,
)
from forebay.outcome.reading import ClassReading, Histogram, LinkReading, Reading

__all__ = [
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
    "summarize",
]
