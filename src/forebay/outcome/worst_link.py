"""Combine several links to their worst values, so that a goal met there is met at every link."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.outcome.model import (
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    LinkOutcome,
    Metric,
    Quantiles,
)

_MORE_IS_BETTER = (LOSS_PROBABILITY, UTILIZATION_PROBABILITY)


def worst_link(
    links: Sequence[LinkOutcome], filled: Sequence[LinkOutcome] | None = None
) -> LinkOutcome:
    """Return the lowest utilization, the highest loss and the longest queue of several links.

    ``filled`` are those whose load reaches a goal on utilization; None: all of them.
    """
    used = links if filled is None else filled
    return links[0].model_copy(
        update={
            "utilization": min((each.utilization for each in used), key=_value),
            "loss_rate": max((each.loss_rate for each in links), key=_value),
            "queue_packets": max((each.queue_packets for each in links), key=_mean),
            "queue_delay_s": _longest([each.queue_delay_s for each in links]),
            "goal_metrics": _goal_metrics(links),
        }
    )


def _longest(delays: Sequence[Quantiles | None]) -> Quantiles | None:
    """Return the largest mean and the largest of each quantile, over all links."""
    known = [each for each in delays if each is not None]
    if not known:
        return None
    return Quantiles(
        **{
            name: max((getattr(each, name) for each in known), key=_value)
            for name in Quantiles.model_fields
        }
    )


def _goal_metrics(links: Sequence[LinkOutcome]) -> dict[str, Metric]:
    """Return the worst of each metric that every link has: the least if more is better."""
    shared = set(links[0].goal_metrics).intersection(*(each.goal_metrics for each in links))
    return {
        name: (min if name in _MORE_IS_BETTER else max)(
            (each.goal_metrics[name] for each in links), key=_value
        )
        for name in sorted(shared)
    }


def _value(metric: Metric | None) -> float:
    return 0.0 if metric is None else metric.value


def _mean(quantiles: Quantiles | None) -> float:
    return 0.0 if quantiles is None else _value(quantiles.mean)
