"""What a link whose rate varies sent, without what rounding adds to what it could send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from forebay.outcome.reading import ClassReading, FloatArray, LinkReading, Reading

TICK_S = 2e-12
"""Of each time in whole picoseconds: it is rounded, and so is its rest where a batch ends."""
_ROUNDING = 1e-9
"""Relative tolerance: sums of many floats in another order differ by less."""


def rounding_bits(link: LinkReading) -> FloatArray:
    """Return the bits of each batch that rounding may add, where the rate varies.

    Bits are times on the wire at the mean rate, and the time of each packet is rounded to whole
    picoseconds: for each packet sent, and for two that cross a batch's ends. Packets of one size
    are all rounded alike, so the differences add up.
    """
    assert link.possible_bits is not None, "the rate varies"
    ticks = link.capacity_bps * (link.sent + 2) * TICK_S
    return np.asarray(link.possible_bits * _ROUNDING + ticks)


def used_bits(link: LinkReading) -> FloatArray:
    """Return the bits of each batch; what exceeds the possible ones by more than rounding stays."""
    if link.possible_bits is None:
        return link.bits
    over = (link.bits > link.possible_bits) & (
        link.bits <= link.possible_bits + rounding_bits(link)
    )
    return np.where(over, link.possible_bits, link.bits)


def of_used_bits(reading: Reading) -> Sequence[ClassReading]:
    """Return the classes with their parts of the `used_bits` of their last links."""
    return [_of_link(kind, reading.links.get(kind.link)) for kind in reading.classes]


def _of_link(kind: ClassReading, link: LinkReading | None) -> ClassReading:
    if link is None or link.possible_bits is None:
        return kind
    share = np.divide(used_bits(link), link.bits, out=np.ones(link.bits.shape), where=link.bits > 0)
    return replace(kind, throughput_bits=kind.throughput_bits * share)
