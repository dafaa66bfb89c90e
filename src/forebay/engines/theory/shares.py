"""What each class of traffic gets of what the link carries, where a law says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay import laws
from forebay.laws import mix
from forebay.laws.offered import offered
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.engines.theory.spread import Prediction
    from forebay.scenario import Scenario, Traffic


def throughputs(scenario: Scenario, prediction: Prediction) -> list[float | None]:
    """Bit/s of each class, None where no law tells it from the others.

    One alone gets what the link carries. Bursts get what they offer, of what is not sent again
    less what is lost; beside long flows short ones get what they offer and the long class the rest
    (paper A, §5.1.3), where the link carries as much.
    """
    groups = scenario.crossing
    here = {id(group) for group in groups}
    carried = prediction.utilization * scenario.link.rate
    if len(groups) == 1:
        return [carried if id(t) in here else None for t in scenario.traffic]
    if laws.burst_law.LAW in prediction.laws:
        kept = _kept(prediction, groups)
        own = (offered(t, scenario.link.rate) if id(t) in here else None for t in scenario.traffic)
        return [None if kept is None or each is None else kept * each for each in own]
    if mix.LAW not in prediction.laws:
        return [None] * len(scenario.traffic)
    left = carried - mix.short_share(scenario) * scenario.link.rate
    alone = sum(t.kind == "long" for t in groups) == 1
    return [
        None if id(t) not in here or left <= 0.0
        else _beside(scenario, t, left if alone else None)
        for t in scenario.traffic
    ]  # fmt: skip


def _kept(prediction: Prediction, groups: Sequence[Traffic]) -> float | None:
    """Share of what bursts offer that is carried in the end."""
    if all(isinstance(group, Tcp) for group in groups):
        return 1.0
    return None if prediction.loss_rate is None else 1.0 - prediction.loss_rate.value


def _beside(scenario: Scenario, traffic: Traffic, left: float | None) -> float | None:
    """What a class offers by itself, else what is left to the one that does not."""
    own = offered(traffic, scenario.link.rate)
    return left if own is None else own
