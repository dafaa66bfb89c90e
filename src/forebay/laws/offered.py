"""What classes of traffic bring to the link, whatever happens to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.scenario import Traffic


def offered(traffic: Traffic, link_rate: float) -> float | None:
    """Bit/s that a class brings whatever happens to it; None where TCP decides that."""
    rate = getattr(traffic, "flow_rate", None)
    if rate is not None:
        return float(traffic.flows * rate(link_rate))
    arrivals = getattr(traffic, "arrivals_per_second", None)
    if arrivals is None:
        return None
    packets = getattr(traffic, "length").mean_packets(traffic.packet)  # noqa: B009
    return float(arrivals(link_rate) * packets * 8 * traffic.packet)
