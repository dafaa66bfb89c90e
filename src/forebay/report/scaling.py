"""The report on the smaller links from which an answer was extrapolated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.report.tables import count, plain, with_prefix

if TYPE_CHECKING:
    from forebay.outcome import Metric, ScaledLink, SizeResult


def scaled_lines(answer: SizeResult) -> list[str]:
    """Return which links were simulated in place of this one, and the uncertainty."""
    scaled = answer.scaled
    if scaled is None:
        return []
    links = "; ".join(map(_link, scaled.links))
    names = {1.0: "each flow keeps its window", 0.0: "all flows are kept, with smaller windows"}
    how = names.get(scaled.flows_share, "fewer flows, with smaller windows")
    low, high = (100 * (end or 0.0) for end in (scaled.error.low, scaled.error.high))
    exponent = scaled.exponent
    return [
        "Scaled: the link is too large to simulate in the time. Links that are "
        f"{plain(scaled.factor)} times smaller, or more, were simulated instead ({how}): {links}.",
        f"{_growth(exponent)} the answer is uncertain by {low:+.0f} % to {high:+.0f} %.",
    ]


def _growth(exponent: Metric) -> str:
    if exponent.low == exponent.high == 0.0:
        return "The queue of such traffic is the same, in packets, at any rate:"
    grows = f"There the buffer grows as the rate to the power of {_power(exponent)}."
    return f"{grows} Extrapolated to the whole link,"


def _power(exponent: Metric) -> str:
    if exponent.low is None or exponent.high is None:
        return f"{exponent.value:.2f}"
    return f"{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})"


def _link(link: ScaledLink) -> str:
    low, high = link.packets.low or 0.0, link.packets.high or 0.0
    between = "" if low == high else f" ({plain(low)} to {plain(high)})"
    flows = f" with {count(link.flows, 'flow')}" if link.flows else ""
    packets = f"{plain(link.packets.value)}{between}"
    return f"{with_prefix(link.rate_bps, 'bit/s')}{flows} needs {packets}"
