"""Carry a size from a smaller link of the same kind to the link itself.

A small buffer holds what bursts and chance put into it, which grows with the number of flows to a
power between 0 and 1/2 (Appenzeller et al. 2004, section 3, has 1/2); a buffer of some round trips
holds whole windows, and grows with the link. So a size b of a link k times smaller stands for
``b * k ** e``, and e goes from the exponent of small buffers to 1 as b passes the link's
bandwidth-delay product. That exponent is measured between links of several sizes, with what was
seen of other links as a prior: docs/explanation/scaled-links.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from forebay.search.scaling import ScalingRule

_AMONG_LINKS = 0.2
"""Standard deviation of the exponent among links, from what it is likely to be."""
_STEEP = (0.8, 0.25)
"""Of an AQM's target, a time, and of a goal on loss, which the window of a flow decides: both grow
with the link."""
_DRIFT, _DRIFT_OF_WINDOWS = 0.1, 0.2
"""Standard deviation of what the exponent changes beyond the links that were simulated: with the
same windows, and with smaller ones."""
_T = 2.0
"""Standard deviations that an interval of 95 % has on each side."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the goals begin to be met on a link ``factor`` times smaller.

    Attributes
    ----------
    bdp : bandwidth-delay product of that link, packets; infinite where no window fills the buffer.
    log, sd : logarithm of the packets there, and its standard error.
    """

    factor: float
    bdp: float
    log: float
    sd: float


@dataclass(frozen=True, slots=True)
class Exponent:
    """The exponent of small buffers in the link's rate, and its 95 % interval."""

    value: float
    low: float
    high: float


def prior(rule: ScalingRule, *, steep: bool, one_process: bool) -> tuple[float, float]:
    """Return the exponent before any link was simulated, and its standard deviation.

    ``steep`` is of a target in time, and of a goal on loss.
    """
    if one_process:
        return 0.0, 0.0
    if steep:
        return _STEEP
    return rule.likely, _AMONG_LINKS


def exponent(
    before: tuple[float, float], seen: Sequence[Crossing], rule: ScalingRule, *, steep: bool
) -> Exponent:
    """Return the exponent by a prior and by the crossings of links of several sizes."""
    mean, sd = before
    if sd == 0.0:
        return Exponent(mean, mean, mean)
    drift = _DRIFT_OF_WINDOWS if rule.shrinks_windows else _DRIFT
    weight, total = sd**-2, mean * sd**-2
    for a, b in pairwise(seen):
        slope, error = _slope(a, b, drift)
        weight, total = weight + error**-2, total + slope * error**-2
    least = rule.gentlest or 0.0
    most = max(1.0, rule.steepest) if steep else rule.steepest
    value, half = total / weight, _T * math.hypot(weight**-0.5, drift)
    ends = (min(max(end, least), most) for end in (value, value - half, value + half))
    return Exponent(*ends)


def _slope(a: Crossing, b: Crossing, drift: float) -> tuple[float, float]:
    """Return the exponent with which two links need the same of the whole link, and its error."""
    shares = [_windows(math.exp(link.log), link.bdp) for link in (a, b)]
    logs = [math.log(link.factor) for link in (a, b)]
    fixed = [link.log + share * log for link, share, log in zip((a, b), shares, logs, strict=True)]
    free = [(1.0 - share) * log for share, log in zip(shares, logs, strict=True)]
    span = free[0] - free[1]
    if abs(span) < 1e-6:
        return 0.0, math.inf
    return (fixed[1] - fixed[0]) / span, math.hypot(math.hypot(a.sd, b.sd) / span, drift)


def _windows(packets: float, bdp: float) -> float:
    """Return the share of a buffer's growth that is that of whole windows."""
    return 0.0 if math.isinf(bdp) else packets / (packets + bdp)


def whole(packets: float, factor: float, bdp: float, of: float) -> float:
    """Return the packets of the whole link for which ``packets`` of a smaller one stand.

    Parameters
    ----------
    bdp : bandwidth-delay product of the smaller link, packets.
    of : the exponent of small buffers.
    """
    return float(packets * factor ** (of + (1.0 - of) * _windows(packets, bdp)))


def here(packets: float, factor: float, bdp: float, of: float) -> int:
    """Return the packets of the smaller link that stand for so many of the whole one; least 1."""
    low, high = math.log(packets / factor), math.log(packets)
    for _ in range(50):
        middle = (low + high) / 2.0
        if whole(math.exp(middle), factor, bdp, of) < packets:
            low = middle
        else:
            high = middle
    return max(1, round(math.exp(high)))
