"""Variants in which the paper's buffer size is that of an egress shaper.

Section II.A: "employing egress link shaping and adapting the token bucket size". The figures' axis
is then the bucket. Its tokens arrive once in each Tc = Bc / rate, the port after it has 100 Mbit/s,
and the queue before it has a separate length, which the paper does not give.
"""

from __future__ import annotations

CHOSEN = "a queue"
"""The variant of the verdicts: the axis is the limit of a drop-tail queue."""

READINGS: dict[str, tuple[int, int]] = {
    "shaper, Be 0, 40 waiting": (0, 40),
    "shaper, Be = Bc, 40 waiting": (1, 40),
    "shaper, Be 0, 1000 waiting": (0, 1000),
}
"""By name, Be in buckets and the packets that may wait. 40 is IOS's default of an interface's
output queue (hold-queue out), Be = Bc that of traffic-shape rate; 1000 is hardly ever full."""

WFQ = "a shaper's fair queues"
"""The axis limits the packets of all queues, one for each flow, of which the longest loses them:
IOS's traffic shaping queues by WFQ. Senders as of FreeBSD 6.0: no SACK, a least timeout of 1 s."""
NAMES = (*READINGS, WFQ)

READING_SEEDS = 3
SAYS = (
    "The paper varied the depth of a shaper's token bucket (II.A) and says nothing of the queue "
    "before it. Be 0 sends Bc an interval; 40 is what IOS holds at an interface unless told. IOS "
    "queues by WFQ there: with it saturation and the order of the buffers come as printed."
)
_PORT = "100 Mbit/s"
_PACKET = 1500


def sets(reading: str, rate: str, packets: int, tcp: tuple[int, ...] = (0,)) -> list[str]:
    """Return the overrides of a variant.

    Parameters
    ----------
    packets : the number on the figure's axis.
    tcp : places of the classes of TCP in the scenario.
    """
    if reading in (CHOSEN, WFQ):
        made = [f"link.rate={rate}", f"queue.size={packets} packets"]
        if reading == CHOSEN:
            return made
        # A target that is never reached leaves of fq_codel its queues and their common limit.
        made += ["queue.discipline=fq_codel", "queue.target=1 s", "queue.interval=10 s"]
        old = [(f"traffic.{i}.sack=false", f"traffic.{i}.min_rto=1 s") for i in tcp]
        return [*made, *(each for pair in old for each in pair)]
    excess, waiting = READINGS[reading]
    burst = packets * _PACKET
    return [
        f"link.rate={_PORT}",
        f"link.shaper.rate={rate}",
        f"link.shaper.burst={burst} B",
        f"link.shaper.excess={excess * burst} B",
        "link.shaper.refill=interval",
        f"queue.size={waiting} packets",
    ]
