"""Variants in which the paper's buffer size is the token bucket of an egress shaper.

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

READING_SEEDS = 3
SAYS = (
    "The paper varied the depth of a shaper's token bucket (II.A) and says nothing of the queue "
    "before it. Be 0 sends Bc an interval; 40 is what IOS holds at an interface unless told."
)
_PORT = "100 Mbit/s"
_PACKET = 1500


def sets(reading: str, rate: str, packets: int) -> list[str]:
    """Return the overrides of a variant: ``packets`` is the number on the figure's axis."""
    if reading == CHOSEN:
        return [f"link.rate={rate}", f"queue.size={packets} packets"]
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
