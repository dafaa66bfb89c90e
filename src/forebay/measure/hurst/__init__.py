"""The Hurst parameter of a series, by four methods with different errors.

All need stationary increments. Daily cycles, a drifting rate or a queue that limits peaks make each
of them wrong; the four methods then disagree.
"""

from __future__ import annotations

from collections.abc import Callable

from forebay.measure.estimate import Estimate, Floats, Refused
from forebay.measure.hurst.rescaled_range import rescaled_range
from forebay.measure.hurst.variance_time import falls, variance_time
from forebay.measure.hurst.wavelet import wavelet
from forebay.measure.hurst.whittle import whittle

SHORTEST = 1 << 10

METHODS: dict[str, Callable[[Floats], Estimate]] = {
    "variance-time": variance_time,
    "rescaled-range": rescaled_range,
    "wavelet": wavelet,
    "whittle": whittle,
}


def hurst(series: Floats) -> dict[str, Estimate] | Refused:
    """Return H by every method, or why the series does not allow it.

    Parameters
    ----------
    series : shape (n,)
        Amounts in consecutive intervals of equal length.
    """
    if len(series) < SHORTEST:
        why = f"{len(series)} intervals; at least {SHORTEST} are needed: capture longer"
        return Refused("hurst", why)
    if not series.std() > 0:
        return Refused("hurst", "the load never changes")
    if not falls(series)[1].min() > 0:
        return Refused("hurst", "the load is periodic: long intervals never differ")
    return {name: method(series) for name, method in METHODS.items()}


__all__ = ["METHODS", "SHORTEST", "hurst", "rescaled_range", "variance_time", "wavelet", "whittle"]
