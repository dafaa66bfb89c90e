"""The size that a careful engineer would configure, with its reasons."""

from __future__ import annotations

from forebay.outcome.document import Closed
from forebay.outcome.values import Metric, Quantiles


class Floor(Closed):
    """The packets that hosts and neighbours send at once, whatever the goals; ``why`` is text."""

    packets: int
    why: str


class Recommended(Closed):
    """The size to configure; the least that was shown to meet the goals may be smaller.

    Attributes
    ----------
    step : number of the step of the rule that decided (docs/reference/recommended.md); 0 in
        documents of earlier versions.
    why : what that step asks, as text.
    floor : what hosts and neighbours send at once; None for an AQM's target.
    """

    packets: int
    bytes: int
    seconds: float
    step: int = 0
    why: tuple[str, ...]
    floor: Floor | None = None


class Price(Closed):
    """What a size beside the recommended one does to the link.

    Attributes
    ----------
    why : "half", "recommended" or "double", or "loss 1 %": the size that loses no more.
    approximate : it lies between two sizes that were run; the values are interpolated.
    """

    packets: int
    utilization: Metric | None
    loss_rate: Metric | None
    queue_delay_s: Quantiles | None
    why: str
    approximate: bool = False
