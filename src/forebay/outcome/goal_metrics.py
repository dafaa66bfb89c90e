"""Metrics that only some goals need: probabilities per round trip, maximum, other quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.model import (
    DELAY_MAXIMUM,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    Metric,
    delay_quantile_name,
)
from forebay.outcome.quantiles import up_to
from forebay.outcome.statistics import Bounds, around, half_width, over_replications

if TYPE_CHECKING:
    from forebay.outcome.reading import LinkReading
    from forebay.scenario import AtLeast, AtMost, Goals

_SHARE: Bounds = (0.0, 1.0)


def goal_metrics(links: Sequence[LinkReading], goals: Goals) -> dict[str, Metric]:
    """Metrics that ``goals`` need of one link beyond `LinkOutcome`, seconds and fractions.

    A goal with a probability needs the share of round trips with at least its utilization, or at
    most its loss: P(...) >= tau and rho in Yang, Zhang, Xu 2013 (§III). The maximum is the longest
    wait of all replications, and so has no interval.
    """
    found = {
        UTILIZATION_PROBABILITY: _probability(goals.utilization, links, _busy_enough),
        LOSS_PROBABILITY: _probability(goals.loss_rate, links, _few_drops),
    } | _delays(links, goals)
    return {name: metric for name, metric in found.items() if metric is not None}


def _delays(links: Sequence[LinkReading], goals: Goals) -> dict[str, Metric | None]:
    wanted = goals.queue_delay
    if wanted is None:
        return {}
    found: dict[str, Metric | None] = {}
    if wanted.maximum is not None:
        found[DELAY_MAXIMUM] = _maximum(links)
    if wanted.quantile is not None:
        read = up_to([k.delay for k in links], [k.longest_s for k in links], [wanted.quantile])
        found[delay_quantile_name(wanted.quantile)] = read[0]
    return found


def _maximum(links: Sequence[LinkReading]) -> Metric | None:
    """The longest wait of a packet in any replication."""
    ends = [k.longest_s for k in links if k.delay.counts.any()]
    return Metric(value=max(ends), low=None, high=None, n=len(ends)) if ends else None


def _busy_enough(link: LinkReading, target: float) -> NDArray[np.bool_]:
    assert link.round_trips is not None
    bits = link.round_trips.bits
    return np.asarray(bits >= target * link.capacity_bps * link.window_s / bits.size * _ROUNDING)


def _few_drops(link: LinkReading, target: float) -> NDArray[np.bool_]:
    assert link.round_trips is not None
    return np.asarray(link.round_trips.drops <= target * link.round_trips.arrivals)


_ROUNDING = 1.0 - 1e-9  # a link that is always busy counts as busy despite rounding of its bits


def _probability(
    target: AtLeast | AtMost | None,
    links: Sequence[LinkReading],
    meets: Callable[[LinkReading, float], NDArray[np.bool_]],
) -> Metric | None:
    if target is None or target.probability is None or any(k.round_trips is None for k in links):
        return None
    shares = [meets(link, float(target)).mean(axis=1) for link in links]
    if len(links) == 1:
        return around(float(shares[0].mean()), half_width(shares[0]), 1, _SHARE)
    return over_replications([float(share.mean()) for share in shares], _SHARE)
