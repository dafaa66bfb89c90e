"""Every law, in the order of their display."""

from __future__ import annotations

from forebay.laws import burst_law, incast, of_long_flows, short_flows
from forebay.laws.law import Law

BURST_LAWS: tuple[Law, ...] = (short_flows.LAW, short_flows.FULL_LAW, burst_law.LAW)
"""Laws of bursts, which need no long flows and no n."""
LAWS: tuple[Law, ...] = (*of_long_flows(), *BURST_LAWS, incast.LAW)
"""Every law."""
