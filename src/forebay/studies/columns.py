"""The columns that a study shows, and between which values the intervals of their means lie."""

import math
from collections.abc import Iterable, Mapping

from forebay.catalogue import DISCIPLINES
from forebay.catalogue.metrics import METRICS
from forebay.outcome.model import ClassOutcome, LinkOutcome
from forebay.outcome.statistics import Bounds
from forebay.scenario import Scenario

BySeed = Mapping[int, Mapping[str, float]]
"""The numbers of a cell, by seed and column."""
SIZED = ("buffer", "target", "min")
"""What a sizing changes: the buffer, the target of an AQM, or red's lower threshold."""
_BOTTLENECK, _LOSS = "bottleneck", ".loss_rate"
_OF_SIZE = ("packets", "low", "high")
OF_RECOMMENDED = ("utilization", "loss_rate", "queue_delay_p99")
"""What the link does with the recommended size."""
_OF_LINK = ("utilization", "loss_rate", "queue_delay_s.mean", "queue_delay_s.p99")
_FIELDS = {"link": LinkOutcome.model_fields, "class": ClassOutcome.model_fields}
_INCREASE = ".fct_increase"
"""Completion times may also become shorter, by all of their length at most."""


def columns_of(ask: str, found: Iterable[BySeed]) -> tuple[str, ...]:
    """Return what is shown unless columns are named: of one link, or of a sizing."""
    if ask == "size":
        return tuple(
            column
            for least, best in map(columns_of_size, SIZED)
            for column in (
                *(f"{best}.{part}" for part in ("packets", *OF_RECOMMENDED)),
                *(f"{least}.{part}" for part in _OF_SIZE),
            )
        )
    link = _link(found)
    return tuple(f"link.{link}.{part}" for part in _OF_LINK)


def sized_of(scenario: Scenario, engine: str) -> str:
    """Return which of `SIZED` a sizing of this scenario changes; laws size the buffer alone."""
    sized = DISCIPLINES[scenario.queue.discipline].sized
    names = {"limit": "buffer", "target": "target", "thresholds": "min"}
    return "buffer" if engine == "theory" else names[sized]


def columns_of_size(sized: str) -> tuple[str, str]:
    """Return the names of the least and of the recommended size in the table."""
    return sized, "recommended" if sized == "buffer" else f"recommended_{sized}"


def _link(found: Iterable[BySeed]) -> str:
    """Return the bottleneck; in a network the link that loses most over all cells."""
    lost: dict[str, float] = {}
    for row in (row for seen in found for row in seen.values()):
        if f"link.{_BOTTLENECK}.utilization" in row:
            return _BOTTLENECK
        for column, value in row.items():
            if column.startswith("link.") and column.endswith(_LOSS):
                lost[column] = lost.get(column, 0.0) + value
    if not lost:
        return _BOTTLENECK
    return max(lost, key=lost.__getitem__).removeprefix("link.").removesuffix(_LOSS)


def may_be_column(ask: str, name: str) -> bool:
    """Whether the table may have a column of this name, as far as is known before a run."""
    if ask == "size":
        return name == "exit_status" or name.partition(".")[0] in (
            *(part for sized in SIZED for part in columns_of_size(sized)),
            "limit",
            "goal",
        )
    fields = _FIELDS.get(name.partition(".")[0])
    if fields is None:
        return name in ("packets", "wall_s")
    return any(f".{field}." in f"{name}." for field in fields)


def bounds_of(column: str, found: BySeed) -> Bounds:
    """Return the range of a column's metric, as an Outcome bounds it."""
    if _INCREASE in column:
        return -1.0, math.inf
    kinds = {metric.bounds for metric in METRICS.values() if f".{metric.key}." in f"{column}."}
    if "share" in kinds or column.endswith("probability"):
        return 0.0, 1.0
    if "buffer" in kinds:
        return 0.0, _most(found, column.partition(".queue_packets")[0] + ".most_packets")
    if "capacity" in kinds:
        return 0.0, _most(found, ".capacity_bps")
    return 0.0, math.inf


def _most(found: BySeed, end: str) -> float:
    """Return the largest value of the one column that ends so; no bound if several do."""
    values = {name: row[name] for row in found.values() for name in row if name.endswith(end)}
    return max(values.values()) if len(values) == 1 else math.inf
