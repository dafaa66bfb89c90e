"""What an answer says of links whose rate varies: quantiles of the rate over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from forebay.outcome import LinkRates
from forebay.scenario import BOTTLENECK

if TYPE_CHECKING:
    from forebay.scenario import Link, Scenario
    from forebay.scenario.rate_trace import RateTrace

_SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)


def link_rates(scenario: Scenario) -> dict[str, LinkRates]:
    """Return the rates of each link whose rate varies, by its name."""
    links: dict[str, Link] = {BOTTLENECK: scenario.link}
    links |= {each.name: each for each in scenario.links}
    end = float(scenario.measure.warmup + scenario.measure.duration)
    traces = {name: link.rates for name, link in links.items()}
    return {name: _rates(trace, end) for name, trace in traces.items() if trace is not None}


def _rates(trace: RateTrace, run_s: float) -> LinkRates:
    """Return the rates over the period; over the run, where the trace does not repeat."""
    length = trace.length_s if trace.repeat else max(trace.length_s, run_s)
    starts, rates = (np.array(column, dtype=float) for column in zip(*trace.rates, strict=True))
    spans = np.diff(np.append(starts, length))
    pairs = list(zip(spans.tolist(), rates.tolist(), strict=True))
    order = np.argsort(rates, kind="stable")
    until = np.cumsum(spans[order]) / length
    quantiles = rates[order][np.searchsorted(until, _SHARES, side="left").clip(max=len(rates) - 1)]
    p1, p5, p50, p95, p99 = quantiles.tolist()
    return LinkRates(
        mean_bps=float(rates @ spans / length),
        p1_bps=p1, p5_bps=p5, p50_bps=p50, p95_bps=p95, p99_bps=p99,
        zero_share=float(spans[rates == 0.0].sum() / length),
        longest_zero_s=_longest_zero(pairs * (1 + trace.repeat)),  # a pause may cross the end
    )  # fmt: skip


def _longest_zero(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the longest time without a rate, of spans and their rates."""
    longest = lasts = 0.0
    for span, rate in pairs:
        lasts = 0.0 if rate else lasts + span
        longest = max(longest, lasts)
    return longest
