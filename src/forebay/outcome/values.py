"""The values of an answer: a metric with its interval, quantiles, slowdowns, rates of a link."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forebay.outcome.document import Closed

if TYPE_CHECKING:
    pass


IDEAL = (
    "the completion time on the empty path if the sender never waited for an ACK: access + sum of "
    "a packet's serialization on each link + propagation of one way + (packets - 1) x "
    "serialization on the slowest of them; where a link's rate varies, at its highest rate, or the "
    "time in which that link lets the transfer's bits pass from its start on, if that is longer; "
    "behind a shaper, at the wire's rate while its full bucket lasts"
)
"""What a completion time is divided by: `ideal_s` of docs/reference/readings.md."""


def _with_number(operation: Callable[[float, float], Any]) -> Callable[[Any, Any], Any]:
    """Return a method of Metric that takes a number or a Metric, and their values."""

    def method(self: Metric, other: Any) -> Any:
        known = isinstance(other, Metric | int | float)
        return operation(self.value, float(other)) if known else NotImplemented

    return method


class Metric(Closed):
    """A value with its 95 % confidence interval.

    ``n`` is the number of replications. With n = 1 the interval is one of that draw of the traffic,
    from the batches of its run: other draws may be far outside. From n = 2 on it is one of the
    scenario, over its draws. ``low`` and ``high`` are None where there is no interval: one run may
    give none, and replications that all agree do not tell how far another may be. A metric that was
    not measured is None instead of a Metric, never zero.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """Format the value as a float; without a format, with its interval."""
        return format(self.value, spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __int__(self) -> int:
        return int(self.value)

    __trunc__ = __int__

    def __neg__(self) -> float:
        return -self.value

    def __pos__(self) -> float:
        return self.value

    def __abs__(self) -> float:
        return abs(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the value as an array of no dimension, so that NumPy's functions take it."""
        import numpy as np

        return np.array(self.value, dtype=dtype)

    __lt__ = _with_number(operator.lt)
    __le__ = _with_number(operator.le)
    __gt__ = _with_number(operator.gt)
    __ge__ = _with_number(operator.ge)
    __add__ = __radd__ = _with_number(operator.add)
    __sub__ = _with_number(operator.sub)
    __rsub__ = _with_number(lambda value, other: other - value)
    __mul__ = __rmul__ = _with_number(operator.mul)
    __truediv__ = _with_number(operator.truediv)
    __rtruediv__ = _with_number(lambda value, other: other / value)
    __floordiv__ = _with_number(operator.floordiv)
    __rfloordiv__ = _with_number(lambda value, other: other // value)
    __mod__ = _with_number(operator.mod)
    __rmod__ = _with_number(lambda value, other: other % value)
    __divmod__ = _with_number(divmod)
    __rdivmod__ = _with_number(lambda value, other: divmod(other, value))
    __pow__ = _with_number(operator.pow)
    __rpow__ = _with_number(lambda value, other: other**value)

    def __eq__(self, other: object) -> bool:
        """Compare the value with a number; with a Metric, the interval and ``n`` too."""
        return self.value == other if isinstance(other, int | float) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        """Return the value with its interval: "0.9953 (0.988 to 1)"."""
        if self.low is None and self.high is None:
            return f"{self.value:.4g}"
        low, high = ("?" if end is None else f"{end:.4g}" for end in (self.low, self.high))
        return f"{self.value:.4g} ({low} to {high})"


class Quantiles(Closed):
    """Mean and quantiles of one distribution, each with its interval."""

    mean: Metric | None
    p50: Metric | None
    p95: Metric | None
    p99: Metric | None


class SlowdownBin(Closed):
    """Slowdown of the transfers of some sizes: completion time over `IDEAL`.

    Attributes
    ----------
    above_bytes, up_to_bytes : the sizes, in whole packets on the link; the last bin has no end.
    transfers, unfinished : as in `ClassOutcome`.
    slowdown : a part is None if it is unknown because of unfinished transfers.
    least : lower bounds of the unknown parts; None if all are known.
    """

    above_bytes: float
    up_to_bytes: float | None
    transfers: Metric | None
    unfinished: Metric | None
    slowdown: Quantiles | None
    least: Quantiles | None = None


class LinkRates(Closed):
    """The rate of a link over the period of its trace or of its outages, or over the run.

    Attributes
    ----------
    mean_bps : what sizes in time, bandwidth-delay products and loads refer to: the mean over the
        period, over the length of a trace that does not repeat, or the rate of a link whose outages
        do not repeat.
    p1_bps, p5_bps, p50_bps, p95_bps, p99_bps : the rate is no higher for 1 %, 5 % and so on of the
        time. Unlike quantiles of waits, low ones are the bad ones.
    zero_share : share of the time in which nothing is sent.
    longest_zero_s : the longest such time.
    window_bps : the mean over the measured window, to which readings such as utilization refer;
        None in older documents.
    """

    mean_bps: float
    p1_bps: float
    p5_bps: float
    p50_bps: float
    p95_bps: float
    p99_bps: float
    zero_share: float
    longest_zero_s: float
    window_bps: float | None = None
