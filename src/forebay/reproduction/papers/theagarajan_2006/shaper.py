"""The router's buffer read as what the paper says it was: the token bucket of an egress shaper.

Section II.A: "employing egress link shaping and adapting the token bucket size". Then the bucket is
on the figures' axis, its tokens come once each Tc = Bc / rate, the port behind it is of 100 Mbit/s,
and the queue before it has a length of its own, of which the paper says nothing.
"""

from __future__ import annotations

CHOSEN = "a queue"
"""The reading that verdicts come from: the axis is the limit of a drop-tail queue."""

READINGS: dict[str, tuple[int, int]] = {
    "shaper, Be 0, 40 waiting": (0, 40),
    "shaper, Be = Bc, 40 waiting": (1, 40),
    "shaper, Be 0, 1000 waiting": (0, 1000),
}
"""By name, Be in buckets and the packets that may wait. 40 is the default of IOS for what waits at
an interface (hold-queue out), Be = Bc that of traffic-shape rate; 1000 is hardly ever full."""

READING_SEEDS = 3
SAYS = (
    "The paper varied the depth of a shaper's token bucket (II.A) and says nothing of the queue "
    "before it. Be 0 sends Bc an interval; 40 is what IOS holds at an interface unless told."
)
_PORT = "100 Mbit/s"
_PACKET = 1500


def sets(reading: str, rate: str, packets: int) -> list[str]:
    """Return what a reading changes: ``packets`` is the number on the figure's axis."""
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
