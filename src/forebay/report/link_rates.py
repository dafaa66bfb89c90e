"""What is said of links whose rate varies."""

from __future__ import annotations

from collections.abc import Mapping

from forebay.outcome import LinkRates
from forebay.outcome.size_result import SizeResult
from forebay.report.tables import duration, plain, with_prefix

_ALIKE = 0.01
"""Relative difference of two means below which they are said as one."""


def rate_lines(rates: Mapping[str, LinkRates]) -> list[str]:
    """Return a sentence for each link."""
    return [_line(name, each) for name, each in rates.items()]


def _line(name: str, rates: LinkRates) -> str:
    low, middle, high = (
        with_prefix(rate, "bit/s") for rate in (rates.p5_bps, rates.p50_bps, rates.p95_bps)
    )
    pauses = ""
    if rates.zero_share > 0.0:
        pauses = (
            f" It sends nothing for {plain(100 * rates.zero_share, 3)} % of the time, up to "
            f"{duration(rates.longest_zero_s)} at once."
        )
    return (
        f"The rate of {name} varies: {_means(rates)}; at most "
        f"{low} for 5 % of the time, {middle} for half of it and {high} for 95 %.{pauses}"
    )


def _means(rates: LinkRates) -> str:
    mean, seen = with_prefix(rates.mean_bps, "bit/s"), rates.window_bps
    if seen is None or abs(seen - rates.mean_bps) < _ALIKE * rates.mean_bps:
        return f"{mean} in the mean"
    return (
        f"sizes and loads refer to {mean}, utilization to the {with_prefix(seen, 'bit/s')} that "
        "the measured window has in the mean"
    )


def drain_lines(answer: SizeResult) -> list[str]:
    """Return how long the recommended buffer holds packets at a low rate, where that varies."""
    first = next(iter(answer.rates.values()), None)
    best = answer.recommended
    if first is None or best is None or not best.bytes or not first.p5_bps:
        return []
    took = [duration(8 * best.bytes / rate) for rate in (first.mean_bps, first.p5_bps)]
    mean = with_prefix(first.mean_bps, "bit/s")
    return [f"Full, that buffer holds {took[0]} at {mean}, and {took[1]} at the 5 % rate."]
