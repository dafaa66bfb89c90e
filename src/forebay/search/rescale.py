"""Convert an outcome of a scaled link to the whole link.

The record of each metric in `forebay.catalogue` says how it scales. Shares do not change:
utilization, loss, fairness. Rates and flows scale with the link, the queue with the buffer, and its
delay with the drain time of the buffer at line rate. Metrics that mix the two, such as a round trip
or a completion time, are omitted and not estimated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from forebay.catalogue import of_level
from forebay.catalogue.metrics import BOTTLENECK
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles

if TYPE_CHECKING:
    from forebay import catalogue
    from forebay.catalogue.metrics import Level
    from forebay.scenario import Scenario

Part = TypeVar("Part", LinkOutcome, ClassOutcome)
_DELAY_METRIC = "queue_delay"


def as_whole(
    outcome: Outcome, whole: Scenario, factor: float, packets: int, *, windows: float = 1.0
) -> Outcome:
    """Return the outcome scaled to the whole link.

    Parameters
    ----------
    whole : the whole link, ``factor`` times larger than the simulated one.
    packets : the simulated buffer, scaled to the whole link.
    windows : a flow's window on the whole link over that on this one. If they differ, a loss goes
        as their inverse square (`laws.loss`), within a band; 1 leaves it as it is.
    """
    link = outcome.links[BOTTLENECK]
    buffers = packets / link.buffer_packets
    sized = whole.with_buffer(packets)
    classes = zip(outcome.classes, whole.traffic, strict=True)
    made = outcome.noting({"scaled": factor}).model_copy(
        update={
            "scenario": sized.to_dict(),
            "links": {BOTTLENECK: _link(link, sized, factor, buffers)},
            "classes": [
                _class(each, int(group.flows), factor, buffers / factor) for each, group in classes
            ],
        }
    )
    return made if windows == 1.0 else _with_loss(made, windows**-2)


_BAND = (0.35, 3.6)
"""Simulated loss over the law's: the range in 34 links of few flows (`engines.theory.loss`)."""


def _with_loss(outcome: Outcome, times: float) -> Outcome:
    """Return an outcome whose losses are ``times`` as large by the law, with the law's band."""
    links = {name: _lost(link, times) for name, link in outcome.links.items()}
    return outcome.model_copy(
        update={"links": links, "classes": [_lost(each, times) for each in outcome.classes]}
    )


def _lost(part: Part, times: float) -> Part:
    lost: Metric | None = getattr(part, "loss_rate", None)
    if lost is None:
        return part
    ends = (lost.value if end is None else end for end in (lost.low, lost.high))
    low, high = (times * band * end for band, end in zip(_BAND, ends, strict=True))
    there = Metric(value=times * lost.value, low=low, high=min(high, 1.0), n=lost.n)
    return part.model_copy(update={"loss_rate": there})


def _link(link: LinkOutcome, sized: Scenario, factor: float, buffers: float) -> LinkOutcome:
    waits = buffers / factor
    own = {
        name: metric.scaled(waits) if name.startswith(_DELAY_METRIC) else metric
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
    return value.scaled(rules[of.scaling])
