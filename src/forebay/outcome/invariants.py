"""Invariants that every answer satisfies for any scenario; each Outcome is checked.

Each invariant has a name, a sentence in docs/reference/invariants.md, and a test. A violation is a
defect of an engine or of a definition, never of the scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from forebay.catalogue import of_level
from forebay.catalogue.metrics import Level
from forebay.errors import ForebayError
from forebay.outcome.model import (
    DELAY_MAXIMUM,
    FCT_INCREASE,
    ClassOutcome,
    ControllerOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Quantiles,
)

if TYPE_CHECKING:
    Part = LinkOutcome | ClassOutcome | ControllerOutcome

INVARIANTS: dict[str, str] = {
    "finite": "every number is finite",
    "fraction": "utilization, loss, fairness, shares and probabilities lie in [0, 1]",
    "not-negative": "no rate, time or count is below 0",
    "interval": "an interval contains its value",
    "interval-possible": "an interval reaches no further than the quantity can",
    "ordered": "p50 <= p95 <= p99, and none is above the maximum",
    "mean-possible": "a mean is no less than its quantiles make it, and no more than the maximum",
    "queue-in-buffer": "no more packets wait than the buffer holds",
    "within-capacity": "no class has more throughput than its last link carries, alone or in sum",
    "goodput-in-throughput": "a class's goodput is no more than its throughput",
    "lost-with-reason": "a completion time that is not known says why, and what it is at least",
    "samples": "n counts replications: 0 for a law, else as many as there are seeds at most",
}
"""Names and statements of all invariants of an Outcome."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One invariant that does not hold.

    ``invariant`` is a name of an `INVARIANTS`; ``where`` a path such as
    ``"classes.voip.loss_rate"``; ``seen`` describes the value.
    """

    invariant: str
    where: str
    seen: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.where} {self.seen}"


class ImpossibleOutcome(ForebayError):
    """An engine computed an impossible value: a defect of forebay.

    Attributes
    ----------
    violations : tuple of Violation
        At least one.
    """

    exit_status = 4

    def __init__(self, engine: str, violations: tuple[Violation, ...]) -> None:
        self.engine, self.violations = engine, violations
        first = violations[0]
        super().__init__(
            "impossible-outcome", engine=engine, invariant=first.invariant, where=first.where
        )


def checked(outcome: Outcome, of_readings: Iterable[Violation] = ()) -> Outcome:
    """Return ``outcome``, or raise ImpossibleOutcome if it violates an invariant.

    Parameters
    ----------
    of_readings : violations by the outcome's raw readings, from engines that measure; named first.
    """
    broken = (*of_readings, *violations(outcome))
    if broken:
        raise ImpossibleOutcome(outcome.engine, broken)
    return outcome


def violations(outcome: Outcome) -> list[Violation]:
    """Return every invariant that an Outcome violates; empty for a valid one."""
    seeds = len(outcome.provenance.seeds)
    return [
        *(each for name, link in outcome.links.items() for each in _of_link(name, link, seeds)),
        *(each for kind in outcome.classes for each in _of_class(kind, outcome, seeds)),
        *_of_sums(outcome),
    ]


_INF = math.inf
Span = tuple[float, float]
_SHARE: Span = (0.0, 1.0)
_POSITIVE: Span = (0.0, _INF)
_ROUNDING = 1e-9
"""Relative tolerance: sums of many floats in another order differ by less."""
_BIN = 1.0 / 64.0
"""Relative error of a quantile from a histogram of times (`Histogram`)."""


def _of_link(name: str, link: LinkOutcome, seeds: int) -> Iterator[Violation]:
    where = f"links.{name}"
    yield from _plain(where, link, "link", seeds)
    most = float(link.buffer_packets if link.most_packets is None else link.most_packets)
    span = _POSITIVE if link.most_packets is None and link.capacity_bps is None else (0.0, most)
    queue = f"{where}.queue_packets"
    yield from _quantiles(queue, link.queue_packets, span, seeds, "queue-in-buffer")
    longest = link.goal_metrics.get(DELAY_MAXIMUM)
    # The longest measured wait bounds the measured values; other runs may have longer waits.
    span = (0.0, _INF if longest is None else longest.value)
    delay = link.queue_delay_s
    yield from _quantiles(f"{where}.queue_delay_s", delay, span, seeds, "ordered", _POSITIVE)
    for goal, metric in link.goal_metrics.items():
        if goal == FCT_INCREASE:
            span = (-1.0, _INF)
        else:
            span = _SHARE if goal.endswith("probability") else _POSITIVE
        yield from _metric(f"{where}.goal_metrics.{goal}", metric, span, seeds)


def _of_class(kind: ClassOutcome, outcome: Outcome, seeds: int) -> Iterator[Violation]:
    where = f"classes.{kind.name}"
    link = outcome.links.get(kind.link)
    most = (0.0, _INF if link is None or link.capacity_bps is None else link.capacity_bps)
    yield from _capacity(where, kind, "class", most, seeds)
    yield from _plain(where, kind, "class", seeds)
    yield from _goodput(where, kind)
    yield from _open(where, kind)
    for name, controller in (kind.controllers or {}).items():
        at = f"{where}.controllers.{name}"
        yield from _capacity(at, controller, "controller", most, seeds)
        yield from _plain(at, controller, "controller", seeds)


def _plain(where: str, part: Part, level: Level, seeds: int) -> Iterator[Violation]:
    """Check the metrics whose bounds are the same in every Outcome."""
    for metric in of_level(level):
        span = {"share": _SHARE, "not negative": _POSITIVE}.get(metric.bounds)
        if span is None:
            continue
        check = _quantiles if metric.is_distribution else _metric
        yield from check(f"{where}.{metric.key}", getattr(part, metric.key), span, seeds)


def _capacity(where: str, part: Part, level: Level, most: Span, seeds: int) -> Iterator[Violation]:
    """Check the metrics that are bounded by the rate of the class's last link."""
    for metric in of_level(level):
        if metric.bounds == "capacity":
            at, value = f"{where}.{metric.key}", getattr(part, metric.key)
            yield from _metric(at, value, most, seeds, "within-capacity")


def _goodput(where: str, kind: ClassOutcome) -> Iterator[Violation]:
    got, sent = kind.goodput_bps, kind.throughput_bps
    if got is not None and sent is not None and got.value > sent.value * (1 + _ROUNDING):
        yield Violation("goodput-in-throughput", where, f"{got.value} of {sent.value} bit/s")


def _open(where: str, kind: ClassOutcome) -> Iterator[Violation]:
    """Unknown parts of completion times are declared as open."""
    if kind.transfers is None or not kind.transfers.value:
        return
    parts = ("mean", "p50", "p95", "p99")
    known = {part for part in parts if getattr(kind.fct_s, part, None) is not None}
    least = {part for part in parts if getattr(kind.fct_least_s, part, None) is not None}
    if known | least != set(parts) or known & least:
        yield Violation("lost-with-reason", f"{where}.fct_s", f"knows {known}, bounds {least}")
    if (known != set(parts)) != (kind.fct_open is not None):
        yield Violation("lost-with-reason", f"{where}.fct_open", f"is {kind.fct_open!r}")


def _of_sums(outcome: Outcome) -> Iterator[Violation]:
    """All classes behind one link together receive no more than it carries."""
    for name, link in outcome.links.items():
        metrics = [k.throughput_bps for k in outcome.classes if k.link == name]
        total = sum(metric.value for metric in metrics if metric is not None)
        if link.capacity_bps is not None and total > link.capacity_bps * (1 + _ROUNDING):
            seen = f"{total} of {link.capacity_bps} bit/s"
            yield Violation("within-capacity", f"links.{name}", seen)


def _metric(
    where: str,
    metric: Metric | None,
    span: Span,
    seeds: int,
    name: str = "",
    ends: Span | None = None,
) -> Iterator[Violation]:
    """`ends`: bounds of the interval, if they are wider than those of the value."""
    if metric is None:
        return
    value, low, high = metric.value, metric.low, metric.high
    known = [number for number in (value, low, high) if number is not None]
    if not all(map(math.isfinite, known)):
        yield Violation("finite", where, f"is {metric}")
        return
    least, most = span[0] - _ROUNDING * abs(span[0]), span[1] * (1 + _ROUNDING)
    bound = name or ("fraction" if span == _SHARE else "not-negative")
    if not least <= value <= most:
        yield Violation(bound, where, f"{value} is not in [{span[0]}, {span[1]}]")
    if (low is not None and low > value) or (high is not None and high < value):
        yield Violation("interval", where, f"{value} is not in [{low}, {high}]")
    first, last = span if ends is None else ends
    below = low is not None and low < first - _ROUNDING * abs(first)
    if below or (high is not None and high > last * (1 + _ROUNDING)):
        seen = f"[{low}, {high}] is not in [{first}, {last}]"
        yield Violation("interval-possible", where, seen)
    if not 0 <= metric.n <= max(seeds, 0):
        yield Violation("samples", where, f"n = {metric.n} of {seeds} seeds")


def _quantiles(
    where: str,
    of: Quantiles | None,
    span: Span,
    seeds: int,
    name: str = "",
    ends: Span | None = None,
) -> Iterator[Violation]:
    if of is None:
        return
    parts = {"mean": of.mean, "p50": of.p50, "p95": of.p95, "p99": of.p99}
    for part, metric in parts.items():
        bound = "mean-possible" if part == "mean" and name == "ordered" else name
        yield from _metric(f"{where}.{part}", metric, span, seeds, bound, ends)
    values = [m.value for m in (of.p50, of.p95, of.p99) if m is not None]
    if any(later < before for before, later in pairwise(values)):
        yield Violation("ordered", where, f"quantiles are {values}")
    if of.mean is not None:
        yield from _mean(where, of.mean.value, parts)


def _mean(where: str, mean: float, parts: dict[str, Metric | None]) -> Iterator[Violation]:
    """For values that are not negative, the mean is at least 1 - p times the p quantile."""
    for part, above in (("p50", 0.5), ("p95", 0.05), ("p99", 0.01)):
        metric = parts[part]
        if metric is not None and mean < above * metric.value * (1 - _BIN) * (1 - _ROUNDING):
            seen = f"{mean} is below {above} of the {part}, {metric.value}"
            yield Violation("mean-possible", f"{where}.mean", seen)
