"""The size that a careful engineer would configure, with its reasons."""

from __future__ import annotations

from forebay.outcome.document import Closed


class Floor(Closed):
    """The packets that hosts and neighbours send at once, whatever the goals; ``why`` is text."""

    packets: int
    why: str


class Recommended(Closed):
    """The size to configure; the least that was shown to meet the goals may be smaller.

    Attributes
    ----------
    why : sentences: why it is not smaller, and what the goals leave no room for.
    floor : the size below which no fast link goes; None on slower links and for an AQM's target.
    """

    packets: int
    bytes: int
    seconds: float
    why: tuple[str, ...]
    floor: Floor | None = None
