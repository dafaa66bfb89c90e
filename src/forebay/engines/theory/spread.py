"""What laws predict of one link, before it becomes an Outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.laws import Law
    from forebay.outcome import Metric


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quantiles of one quantity."""

    mean: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """One link by its laws; packets and seconds.

    ``laws`` names the source of each part, ``in_step`` whether the windows march as one, and
    ``asked`` holds what the goals ask beyond the rest.
    """

    utilization: float
    loss_rate: float
    queue_packets: Spread
    queue_delay_s: Spread
    laws: tuple[Law, ...]
    in_step: bool
    asked: dict[str, Metric]
