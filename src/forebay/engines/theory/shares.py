"""What each class of traffic gets of what the link carries, where a law says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import burst_law, mix
from forebay.laws.offered import offered

if TYPE_CHECKING:
    from forebay.engines.theory.spread import Prediction
    from forebay.scenario import Scenario, Traffic


def throughput(scenario: Scenario, prediction: Prediction, traffic: Traffic) -> float | None:
    """Bit/s of one class, None where no law tells it from the others.

    One alone gets what the link carries. Bursts get what they offer, less what is lost; beside
    long flows short ones get what they offer and the long class the rest (paper A, §5.1.3).
    """
    carried = prediction.utilization * scenario.link.rate
    if len(scenario.traffic) == 1:
        return carried
    own = offered(traffic, scenario.link.rate)
    if traffic.direction != "forward":
        return None
    if burst_law.LAW in prediction.laws:
        return None if own is None else own * (1.0 - prediction.loss_rate)
    if mix.LAW not in prediction.laws:
        return None
    if own is not None:
        return own
    left = carried - mix.short_share(scenario) * scenario.link.rate
    return left if sum(t.kind == "long" for t in scenario.traffic) == 1 and left > 0.0 else None
