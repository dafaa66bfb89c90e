"""Convert an outcome of a scaled link to the whole link.

The record of each metric in `forebay.catalogue` says how it scales. Shares do not change:
utilization, loss, fairness. Rates and flows scale with the link, the queue with the buffer, and its
delay with the drain time of the buffer at line rate. Metrics that mix the two, such as a round trip
or a completion time, are omitted and not estimated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.catalogue import of_level
from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles

if TYPE_CHECKING:
    from forebay import catalogue
    from forebay.catalogue.metric import Level
    from forebay.scenario import Scenario

_DELAY_METRIC = "queue_delay"
_PARTS = ("mean", "p50", "p95", "p99")


def as_whole(
    outcome: Outcome, whole: Scenario, factor: float, packets: int, *, same_windows: bool = True
) -> Outcome:
    """Return the outcome scaled to the whole link.

    Parameters
    ----------
    whole : the whole link, ``factor`` times larger than the simulated one.
    packets : the simulated buffer, scaled to the whole link.
    same_windows : whether each flow has the same window on both. If not, no loss is carried over:
        it goes as the inverse square of the window (`laws.loss`).
    """
    link = outcome.links[BOTTLENECK]
    buffers = packets / link.buffer_packets
    sized = whole.with_buffer(packets)
    provenance = outcome.provenance.model_copy(update={"scaled": factor})
    classes = zip(outcome.classes, whole.traffic, strict=True)
    made = outcome.model_copy(
        update={
            "scenario": sized.to_dict(),
            "links": {BOTTLENECK: _link(link, sized, factor, buffers)},
            "classes": [
                _class(each, int(group.flows), factor, buffers / factor) for each, group in classes
            ],
            "provenance": provenance,
        }
    )
    return made if same_windows else _without_loss(made)


def _without_loss(outcome: Outcome) -> Outcome:
    """Return an outcome whose loss is not known, and neither is what follows from it."""
    links = {
        name: link.model_copy(update={"loss_rate": None}) for name, link in outcome.links.items()
    }
    classes = [each.model_copy(update={"loss_rate": None}) for each in outcome.classes]
    return outcome.model_copy(update={"links": links, "classes": classes})


def _link(link: LinkOutcome, sized: Scenario, factor: float, buffers: float) -> LinkOutcome:
    waits = buffers / factor
    own = {
        name: times(metric, waits) if name.startswith(_DELAY_METRIC) else metric
        for name, metric in link.goal_metrics.items()
    }
    return link.model_copy(
        update={
            **_scaled(link, "link", factor, buffers),
            "buffer_packets": sized.buffer_packets,
            "bdp_packets": sized.bdp_packets,
            "goal_metrics": own,
            "capacity_bps": float(sized.link.capacity),
            "most_packets": None,
        }
    )


def _class(each: ClassOutcome, flows: int, factor: float, waits: float) -> ClassOutcome:
    return each.model_copy(
        update={
            **_scaled(each, "class", factor, waits * factor),
            "flows": flows or round(each.flows * factor),
            "fct_open": None,
            "slowdown": None,
            "slowdown_ideal": None,
            "controllers": None,
        }
    )


def _scaled(
    part: LinkOutcome | ClassOutcome, level: Level, factor: float, buffers: float
) -> dict[str, Any]:
    """Return the metrics of a part for the whole link, by the rule in each one's record."""
    rules = {"same": 1.0, "rate": factor, "queue": buffers, "delay": buffers / factor}
    return {each.key: _by(part, each, rules) for each in of_level(level)}


def _by(
    part: LinkOutcome | ClassOutcome, of: catalogue.Metric, rules: dict[str, float]
) -> Metric | Quantiles | None:
    value: Metric | Quantiles | None = getattr(part, of.key)
    if of.scaling == "omitted" or value is None:
        return None
    if of.scaling == "same":
        return value
    if isinstance(value, Quantiles):
        return _quantiles(value, rules[of.scaling])
    return times(value, rules[of.scaling])


def _quantiles(of: Quantiles, factor: float) -> Quantiles:
    return Quantiles(**{part: times(getattr(of, part), factor) for part in _PARTS})


def times(metric: Metric | None, factor: float) -> Metric | None:
    """Return a metric with its value and interval multiplied by ``factor``."""
    if metric is None:
        return None
    ends = (None if end is None else end * factor for end in (metric.low, metric.high))
    low, high = ends
    return Metric(value=metric.value * factor, low=low, high=high, n=metric.n)
