"""The congestion that an engine measured at one size, in sentences: evidence beside the laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome
    from forebay.search.evaluations import Evaluation

_MOST_SHARES = 8


def observed(engine: str, there: Evaluation) -> tuple[str, ...]:
    """Describe the congestion that an engine measured; it may contradict the governing law."""
    link = there.outcome.links[BOTTLENECK]
    used, lost = link.utilization, link.loss_rate
    if used is None or lost is None or not lost.n:  # a law's own value is not evidence
        return ()
    where = f"{engine}, with {there.in_words}"
    if not lost.value:
        return (f"{where}: nothing was dropped, so the buffer was never full",)
    loss = f"{where}: {100 * used.value:.2f} % used, {100 * lost.value:.2g} % dropped"
    seen = f"{loss}: the queue overflows, so the link is congested"
    return (seen, *_queue(link), *_shares(there))


def _queue(link: LinkOutcome) -> tuple[str, ...]:
    """Describe the queue; without a law it is the only evidence."""
    parts = link.queue_packets
    if parts is None or parts.mean is None or parts.p50 is None or parts.p99 is None:
        return ()
    mean, middle, high = (each.value for each in (parts.mean, parts.p50, parts.p99))
    return (
        f"the queue held {_round(mean)} packets on average, at most {_round(middle)} for half "
        f"of the time, and at most {_round(high)} for 99 % of it",
    )


def _round(packets: float) -> str:
    return f"{packets:.0f}" if packets >= 100 else f"{packets:.3g}"


def _shares(there: Evaluation) -> tuple[str, ...]:
    """Return each class's share of the link, if there are several."""
    classes = there.outcome.classes
    got = [0.0 if c.throughput_bps is None else c.throughput_bps.value for c in classes]
    if len(got) < 2 or len(got) > _MOST_SHARES or not sum(got):
        return ()
    parts = (f"traffic.{i} {100 * bits / sum(got):.3g} %" for i, bits in enumerate(got))
    return (f"of what was sent, {', '.join(parts)}",)
