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
class Between:
    """A value that is known within a band only."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """One link by its laws; packets and seconds. None is what they do not tell.

    ``laws`` names the source of each part, and ``asked`` holds what the goals ask beyond the rest.
    """

    utilization: float
    loss_rate: Between | None
    queue_packets: Spread | None
    queue_delay_s: Spread | None
    laws: tuple[Law, ...]
    goal_metrics: dict[str, Metric]
