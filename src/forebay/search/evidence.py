"""Read a goal's metric from an outcome, and decide whether it is met, missed, or undecided.

A goal that compares also reads the outcome of an unlimited buffer.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forebay.catalogue.metrics import BOTTLENECK
from forebay.outcome import (
    FCT_INCREASE,
    ClassOutcome,
    LinkOutcome,
    Metric,
    Outcome,
    Quantiles,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One buffer's outcome; ``unlimited`` is the outcome of a buffer that drops nothing."""

    outcome: Outcome
    unlimited: Outcome | None = None
    behind: str = BOTTLENECK

    @property
    def link(self) -> LinkOutcome:
        """The link behind the buffer."""
        return self.outcome.links[self.behind]

    def of_class(self, index: int) -> ClassOutcome:
        """One class of traffic, in the scenario's order."""
        return self.outcome.classes[index]

    def delay(self, part: str, index: int | None = None) -> Metric | None:
        """Mean or a quantile of the queueing delay, seconds; of one class by its ``index``.

        The packets of a link with one class are that class's.
        """
        if index is None:
            return _part(self.link.queue_delay_s, part)
        alone = len(self.outcome.classes) == 1
        of = self.link if alone else self.of_class(index)
        return _part(of.queue_delay_s, part)

    def completion(self, index: int, part: str) -> Metric | None:
        """Mean or a quantile of a class's completion time, seconds; open if unfinished."""
        return completion_part(self.of_class(index), part)

    def request(self, index: int, part: str) -> Metric | None:
        """The same of a class's whole requests, which several flows answer."""
        kind = self.of_class(index)
        return _known_or_bound(kind.request_s, kind.request_least_s, part)

    def completion_increase(self, index: int | None = None) -> Metric | None:
        """Mean completion time over that with unlimited buffer, minus one.

        Classes are weighted by their number of flows. Both runs use the same seeds. The interval
        ignores their common noise, so it is too wide rather than too narrow. An engine without
        completion times may give their increase over all classes together.
        """
        if index is None and FCT_INCREASE in self.link.goal_metrics:
            return self.link.goal_metrics[FCT_INCREASE]
        if self.unlimited is None:
            return None
        here, there = (_completion(o, index) for o in (self.outcome, self.unlimited))
        if here is None or there is None or there.value <= 0:
            return None
        if there.is_open:  # it may be any longer, and so this one's excess any smaller
            return at_least(-1.0, here.n)
        ratio = _ratio_less_one(_closed(here), there)
        return _opened(ratio) if here.is_open else ratio

    def realtime_loss(self, classes: Sequence[int]) -> Metric | None:
        """Loss of these classes together, each weighted by the packets that it sent."""
        kinds = [self.of_class(index) for index in classes]
        metrics = [kind.loss_rate for kind in kinds]
        if len(kinds) == 1:
            return metrics[0]
        return _mean(metrics, [_sent(kind) for kind in kinds])


def _part(quantiles: Quantiles | None, part: str) -> Metric | None:
    metric: Metric | None = getattr(quantiles, part, None)
    return metric


def completion_part(kind: ClassOutcome, part: str) -> Metric | None:
    """Mean or a quantile of a class's completion time; a lower bound if it is open."""
    return _known_or_bound(kind.fct_s, kind.fct_least_s, part)


def _known_or_bound(
    quantiles: Quantiles | None, bounds: Quantiles | None, part: str
) -> Metric | None:
    known, least = _part(quantiles, part), _part(bounds, part)
    if known is not None:
        return known
    return None if least is None else _opened(least)


def at_least(low: float, n: int, value: float | None = None) -> Metric:
    """Return a metric without a known upper end; ``value`` estimates the lower end."""
    return Metric(value=low if value is None else value, low=low, high=None, n=n)


def _opened(bound: Metric) -> Metric:
    """Return a metric as a lower bound: only the lower end of its interval remains."""
    return at_least(bound.value if bound.low is None else bound.low, bound.n, bound.value)


def _closed(metric: Metric) -> Metric:
    """Return an open metric as its bound; the noise is assumed to be symmetrical."""
    if metric.low is None or metric.high is not None:
        return metric
    return metric.within(metric.low, 2 * metric.value - metric.low)


def _completion(outcome: Outcome, index: int | None) -> Metric | None:
    kinds = outcome.classes if index is None else [outcome.classes[index]]
    ending = [kind for kind in kinds if kind.fct_s is not None or kind.fct_least_s is not None]
    metrics = [completion_part(kind, "mean") for kind in ending]
    known = [metric for metric in metrics if metric is not None]
    if len(known) < len(metrics):
        return None
    mean = _mean([_closed(metric) for metric in known], [kind.flows for kind in ending])
    is_bound = any(metric.is_open for metric in known)
    return _opened(mean) if mean is not None and is_bound else mean


def _sent(kind: ClassOutcome) -> float | None:
    """What a class sent, up to a factor: its throughput over the share that was not lost."""
    if kind.throughput_bps is None or kind.loss_rate is None or kind.loss_rate.value >= 1:
        return None
    return kind.throughput_bps.value / (1 - kind.loss_rate.value)


def _mean(metrics: Sequence[Metric | None], weights: Sequence[float | None]) -> Metric | None:
    """Weighted mean of independent metrics; None if one is missing, or all weights are zero."""
    known = [
        (m, w) for m, w in zip(metrics, weights, strict=True) if m is not None and w is not None
    ]
    total = sum(weight for _, weight in known)
    if len(known) < len(metrics) or not total:
        return None
    value = sum(weight * metric.value for metric, weight in known) / total
    halves = [w * m.half_width for m, w in known if m.half_width is not None]
    n = min(metric.n for metric, _ in known)
    if len(halves) < len(known):
        return Metric(value=value, low=None, high=None, n=n)
    half = math.hypot(*halves) / total
    return Metric(value=value, low=value - half, high=value + half, n=n)


def _ratio_less_one(here: Metric, there: Metric) -> Metric:
    ratio = here.value / there.value
    halves = (here.half_width, there.half_width)
    if halves[0] is None or halves[1] is None:
        return Metric(value=ratio - 1, low=None, high=None, n=here.n)
    half = ratio * math.hypot(halves[0] / here.value, halves[1] / there.value)
    return Metric(value=ratio - 1, low=ratio - 1 - half, high=ratio - 1 + half, n=here.n)


def ends(metric: Metric) -> tuple[float, float]:
    """Both ends of the interval; both are the value where there is none."""
    low = metric.value if metric.low is None else metric.low
    above = metric.value if metric.low is None else math.inf
    return low, above if metric.high is None else metric.high


def judge(metric: Metric, target: float, *, at_least: bool) -> Verdict:
    """Compare the 95 % interval with the target.

    A goal is met if the interval is wholly on the good side (its end may touch the target), and
    missed if it is wholly on the bad side. A metric without interval is exact: its value decides.
    A metric with only a lower end may be arbitrarily large, so it never meets a ceiling.
    """
    low, high = ends(metric)
    if not at_least:  # at most t is the same as: the negative is at least -t
        low, high, target = -high, -low, -target
    if low >= target:
        return Verdict.MET
    return Verdict.MISSED if high < target else Verdict.UNDECIDED


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return met if all are met, missed if one is missed, and undecided otherwise."""
    seen = set(verdicts)
    if Verdict.MISSED in seen:
        return Verdict.MISSED
    return Verdict.UNDECIDED if Verdict.UNDECIDED in seen else Verdict.MET
