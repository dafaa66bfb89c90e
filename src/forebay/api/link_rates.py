"""What an answer says of links whose rate varies: quantiles of the rate over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.outcome import LinkRates
from forebay.scenario import BOTTLENECK, Duration

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.scenario import Link, Scenario
    from forebay.scenario.rate_trace import RateTrace

_SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)


def link_rates(scenario: Scenario, measured: Outcome | None = None) -> dict[str, LinkRates]:
    """Return the rates of each link whose rate varies, by its name.

    Parameters
    ----------
    measured : an answer whose window may differ from the scenario's, because it was lengthened.
    """
    links: dict[str, Link] = {BOTTLENECK: scenario.link}
    links |= {each.name: each for each in scenario.links}
    begin, end = _window(scenario, measured)
    found = {}
    for name, link in links.items():
        if (trace := link.rates) is not None:
            before, after = trace.bits((begin, end))
            seen = (after - before) / (end - begin)
            found[name] = _rates(trace, end, mean=float(link.capacity), seen=seen)
    return found


def _window(scenario: Scenario, measured: Outcome | None) -> tuple[float, float]:
    of_run: Any = {} if measured is None else measured.scenario["measure"]
    warmup = float(Duration.parse(of_run.get("warmup", str(scenario.measure.warmup))))
    return warmup, warmup + float(
        Duration.parse(of_run.get("duration", str(scenario.measure.duration)))
    )


def _rates(trace: RateTrace, run_s: float, *, mean: float, seen: float) -> LinkRates:
    """Return the rates over the period; over the run, where the trace does not repeat."""
    length = trace.length_s if trace.repeat else run_s
    starts, rates = (np.array(column, dtype=float) for column in zip(*trace.rates, strict=True))
    rates = rates[starts < length]
    spans = np.diff(np.append(starts[starts < length], length))
    pairs = list(zip(spans.tolist(), rates.tolist(), strict=True))
    order = np.argsort(rates, kind="stable")
    until = np.cumsum(spans[order]) / length
    quantiles = rates[order][np.searchsorted(until, _SHARES, side="left").clip(max=len(rates) - 1)]
    p1, p5, p50, p95, p99 = quantiles.tolist()
    return LinkRates(
        mean_bps=mean,
        p1_bps=p1, p5_bps=p5, p50_bps=p50, p95_bps=p95, p99_bps=p99,
        zero_share=float(spans[rates == 0.0].sum() / length),
        longest_zero_s=_longest_zero(pairs * (1 + trace.repeat)),  # a pause may cross the end
        window_bps=seen,
    )  # fmt: skip


def _longest_zero(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the longest time without a rate, of spans and their rates."""
    longest = lasts = 0.0
    for span, rate in pairs:
        lasts = 0.0 if rate else lasts + span
        longest = max(longest, lasts)
    return longest
