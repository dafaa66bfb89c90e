"""Where to look next: a pure function of what each buffer tried so far has shown.

The table says for every buffer tried whether it is below the boundary that is looked for,
above it, or unsure. All decisions are taken afresh from the whole table, never from a
remembered interval, so a buffer that is tried for another reason (a second goal, a point
of the picture) or that changes its mind with more seeds is used like any other.

Noise can turn the order round: a buffer found below the boundary may be larger than one
found above it. Two rules make that harmless. `conflicts` names both so that the caller can
give them more seeds; and of what then remains the larger "below" is believed, so that the
answer is the smallest buffer from which on nothing tried was too small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """Where a buffer lies as seen from the boundary."""

    BELOW = -1
    UNSURE = 0
    ABOVE = 1


Table = Mapping[int, Side]

FINENESS = 32
"""Around unsure buffers the search stops at 1/32 of the buffer: noise hides what is finer."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The boundary lies above ``low`` and not above ``high``.

    ``low`` is 0 where no buffer tried is below it, ``high`` None where none is above.
    ``unsure`` holds the undecided buffers between the two, sorted.
    """

    low: int
    high: int | None
    unsure: tuple[int, ...]


def bracket(table: Table) -> Bracket:
    """Return the bracket that a table of tried buffers leaves."""
    low = max((b for b, side in table.items() if side is Side.BELOW), default=0)
    high = min((b for b, side in table.items() if side is Side.ABOVE and b > low), default=None)
    end = math.inf if high is None else high
    unsure = (b for b, side in table.items() if side is Side.UNSURE and low < b < end)
    return Bracket(low, high, tuple(sorted(unsure)))


def conflicts(table: Table) -> list[int]:
    """Buffers out of order: those above that are smaller than one below, and the reverse."""
    above = [b for b, side in table.items() if side is Side.ABOVE]
    below = [b for b, side in table.items() if side is Side.BELOW]
    if not above or not below:
        return []
    first, last = min(above), max(below)
    return sorted([b for b in above if b < last] + [b for b in below if b > first])


def next_buffer(table: Table, start: int, limit: int) -> int | None:
    """Return the buffer to try next, 1 to ``limit``; None when nothing is left to learn."""
    if not table:
        return min(max(start, 1), limit)
    found = bracket(table)
    top = max((found.low, *found.unsure))
    if found.high is None and top < limit:
        return min(2 * top, limit)
    first = min(b for b in (*found.unsure, found.high, limit) if b is not None)
    if found.low == 0 and first > 1:
        return first // 2
    return _bisect(found, first, top)


def _bisect(found: Bracket, first: int, top: int) -> int | None:
    """Split the gap under the sure upper end, then the one over the sure lower end."""
    step = max(1, first // FINENESS) if found.unsure else 1
    if found.high is not None and found.high - top > step:
        return middle(top, found.high)
    return middle(found.low, first) if first - found.low > step else None


def middle(low: int, high: int) -> int:
    """Return an integer strictly between: geometric while the ends are far apart."""
    if low > 0 and high > 2 * low:
        return min(max(round(math.sqrt(low * high)), low + 1), high - 1)
    return (low + high) // 2


def steps_left(table: Table, limit: int) -> int:
    """Roughly how many more buffers `next_buffer` will name; for progress only."""
    if not table:
        return 8
    found = bracket(table)
    if found.high is None or found.low == 0:
        return 7
    gap = (found.high - found.low) / (max(1, found.high // FINENESS) if found.unsure else 1)
    return math.ceil(math.log2(max(gap, 1)))
