"""The rate of a link that varies, in numbers."""

from __future__ import annotations

from forebay.outcome.document import Closed


class LinkRates(Closed):
    """The rate of a link over the period of its trace or of its outages, or over the run.

    Attributes
    ----------
    mean_bps : what sizes in time, bandwidth-delay products and loads refer to.
    p1_bps, p5_bps, p50_bps, p95_bps, p99_bps : the rate is lower for 1 %, 5 % and so on of the
        time. Unlike quantiles of waits, low ones are the bad ones.
    zero_share : share of the time in which nothing is sent.
    longest_zero_s : the longest such time.
    """

    mean_bps: float
    p1_bps: float
    p5_bps: float
    p50_bps: float
    p95_bps: float
    p99_bps: float
    zero_share: float
    longest_zero_s: float
