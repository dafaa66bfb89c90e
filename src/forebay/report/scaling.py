"""What a report says of smaller links that stood for the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.report.numbers import count, plain, with_prefix

if TYPE_CHECKING:
    from forebay.outcome import ScaledLink, SizeResult


def scaled_lines(answer: SizeResult) -> list[str]:
    """Say which links were played in this one's place, and what that leaves open."""
    scaled = answer.scaled
    if scaled is None:
        return []
    links = "; ".join(map(_link, scaled.links))
    names = {1.0: "each flow keeps its window", 0.0: "all flows are kept, with smaller windows"}
    how = names.get(scaled.flows_share, "fewer flows, with smaller windows")
    low, high = (100 * (end or 0.0) for end in (scaled.error.low, scaled.error.high))
    exponent = scaled.exponent
    return [
        f"Scaled: too large to be played in the time, so links {plain(scaled.factor)} times "
        f"smaller and more were ({how}): {links}.",
        f"Over them packets grow as the rate to the power of {exponent.value:.2f}; carried on to "
        f"the whole link, {low:+.0f} % to {high:+.0f} % of the answer are left open.",
    ]


def _link(link: ScaledLink) -> str:
    low, high = link.packets.low or 0.0, link.packets.high or 0.0
    between = "" if low == high else f" ({plain(low)} to {plain(high)})"
    flows = f" with {count(link.flows, 'flow')}" if link.flows else ""
    packets = f"{plain(link.packets.value)}{between}"
    return f"{with_prefix(link.rate_bps, 'bit/s')}{flows} asks for {packets}"
