"""Laws of whole packets: what is drawn for a flow, and where its law begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from forebay.scenario import truncated

_SUMMED = 200


@dataclass(frozen=True, slots=True)
class PacketLaw:
    """A law of lengths counted in packets, parts of packets included.

    Attributes
    ----------
    kind : "fixed", "geometric", "pareto" or "lognormal".
    mean : expected value of the whole packets drawn.
    shape : exponent of a Pareto law's tail.
    deviation : a lognormal law's standard deviation, relative to its mean before it is cut.
    high : no longer flow is drawn.
    """

    kind: str
    mean: float
    shape: float = 0.0
    deviation: float = 0.0
    high: float = 0.0


@lru_cache(maxsize=256)
def lower_end(kind: str, mean: float, shape: float, deviation: float, high: float) -> float:
    """Return what makes the mean of the whole packets drawn the mean asked for.

    For a Pareto law that is its lower end; for a lognormal one its median. In packets; the
    number drawn is max(1, nearest whole number).
    """
    sigma = truncated.lognormal_sigma(mean, deviation) if kind == "lognormal" else 0.0

    def rounded_mean(scale: float) -> float:
        if kind == "pareto":
            return _rounded_mean(
                lambda x: truncated.pareto_tail(x, shape, scale, high),
                lambda x: truncated.pareto_mean(shape, max(x, scale), high),
                high,
            )
        return _rounded_mean(
            lambda x: truncated.lognormal_tail(x, scale, sigma, high),
            lambda x: truncated.lognormal_mean(scale, sigma, x, high),
            high,
        )

    # Six deviations beyond the upper end a lognormal law is all but a Pareto one, cut there.
    most = high if kind == "pareto" else high * exp(6 * sigma)
    return truncated.solve(rounded_mean, mean, mean * 1e-9, most * (1 - 1e-12))


def _rounded_mean(
    tail: Callable[[float], float], mean_above: Callable[[float], float], high: float
) -> float:
    """E[max(1, round X)] = 1 + sum over j >= 2 of P(X > j - 1/2).

    Beyond 200 the sum is the integral of the tail, E[X - J; X > J], to seven digits.
    """
    last = min(_SUMMED, int(high + 0.5))
    total = 1.0 + sum(tail(j - 0.5) for j in range(2, last + 1))
    if last < _SUMMED or tail(last) <= 0.0:
        return total
    return total + tail(last) * (mean_above(last) - last)
