"""Choose the next buffer to try: a pure function of the results so far.

The table states for every tried buffer whether it is below the boundary, above it, or unsure.
Every decision uses the whole table and no stored interval. So the search can also use a buffer
that was tried for another reason (a second goal, a point of the picture), and one whose result
changes with more seeds.

Noise can reverse the order: a buffer found below the boundary may be larger than one found above
it. Two rules handle this. `conflicts` returns both, so that the caller can run more seeds. If a
conflict remains, the larger "below" counts, so that the answer is the smallest buffer above all
tried buffers that were too small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """Position of a buffer relative to the boundary."""

    BELOW = -1
    UNSURE = 0
    ABOVE = 1


Table = Mapping[int, Side]

FINENESS = 32
"""Near unsure buffers the search stops at a resolution of 1/32: noise hides finer steps."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The boundary lies above ``low`` and not above ``high``.

    ``low`` is 0 if no tried buffer is below it, and ``high`` is None if none is above.
    ``unsure`` contains the undecided buffers between the two, sorted.
    """

    low: int
    high: int | None
    unsure: tuple[int, ...]


def bracket(table: Table) -> Bracket:
    """Return the bracket that follows from a table of tried buffers."""
    low = max((b for b, side in table.items() if side is Side.BELOW), default=0)
    high = min((b for b, side in table.items() if side is Side.ABOVE and b > low), default=None)
    end = math.inf if high is None else high
    unsure = (b for b, side in table.items() if side is Side.UNSURE and low < b < end)
    return Bracket(low, high, tuple(sorted(unsure)))


def conflicts(table: Table) -> list[int]:
    """Buffers in the wrong order: "above" but smaller than a "below", or the reverse."""
    above = [b for b, side in table.items() if side is Side.ABOVE]
    below = [b for b, side in table.items() if side is Side.BELOW]
    if not above or not below:
        return []
    first, last = min(above), max(below)
    return sorted([b for b in above if b < last] + [b for b in below if b > first])


def next_buffer(table: Table, start: int, limit: int) -> int | None:
    """Return the next buffer to try, 1 to ``limit``; None if no further one is useful."""
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
    """Split the gap below the sure upper end, then the gap above the sure lower end."""
    step = max(1, first // FINENESS) if found.unsure else 1
    if found.high is not None and found.high - top > step:
        return middle(top, found.high)
    return middle(found.low, first) if first - found.low > step else None


def middle(low: int, high: int) -> int:
    """Return an integer strictly between; the geometric mean while the ends are far apart."""
    if low > 0 and high > 2 * low:
        return min(max(round(math.sqrt(low * high)), low + 1), high - 1)
    return (low + high) // 2


def steps_left(table: Table, limit: int) -> int:
    """Approximate number of further buffers from `next_buffer`; for progress only."""
    if not table:
        return 8
    found = bracket(table)
    if found.high is None or found.low == 0:
        return 7
    gap = (found.high - found.low) / (max(1, found.high // FINENESS) if found.unsure else 1)
    return math.ceil(math.log2(max(gap, 1)))
