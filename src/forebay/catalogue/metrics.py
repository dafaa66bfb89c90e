"""The metrics of an Outcome: every field of it that is a metric has one record."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from forebay.catalogue.class_metrics import CLASS_METRICS, CONTROLLER_METRICS
from forebay.catalogue.link_metrics import LINK_METRICS
from forebay.catalogue.metric import Level, Metric
from forebay.catalogue.record import IncompleteRecord, by_name

METRICS = by_name((*LINK_METRICS, *CLASS_METRICS, *CONTROLLER_METRICS))
"""All metrics, by name."""

_FILES = {"link": "link_metrics", "class": "class_metrics", "controller": "class_metrics"}


@cache
def of_level(level: Level) -> tuple[Metric, ...]:
    """Return the metrics of one part of an Outcome, in the order of the catalogue."""
    return tuple(each for each in METRICS.values() if each.level == level)


def check_stated(level: Level, keys: Iterable[str]) -> None:
    """Check that the metrics of a part of an Outcome are those of the catalogue.

    Raises
    ------
    IncompleteRecord
        A metric has no record, or a record has no metric.
    """
    fields, stated = set(keys), {each.key for each in of_level(level)}
    for key in sorted(fields ^ stated):
        here, there = "forebay.outcome.model", f"forebay.catalogue.{_FILES[level]}"
        wrong = f"is in {here}, but not in {there}" if key in fields else f"is not in {here}"
        raise IncompleteRecord("metric", f"{level}.{key}", wrong)
