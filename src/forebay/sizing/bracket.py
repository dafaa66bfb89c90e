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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """Position of a buffer relative to the boundary."""

    BELOW = -1
    UNSURE = 0
    ABOVE = 1


Table = Mapping[int, Side]

Margins = Mapping[int, tuple[float, float]]
"""How far each tried buffer lies above the boundary: least and most, with all available seeds.

The distance is the logarithm of the harm over the allowed harm (`Goal.log_excess`). Where noise
hides the boundary, a buffer is shown to lie below it if even the most is negative, and above it if
even the least is positive. So the two ends have zeros of their own, and a search of one of them
does not stop at buffers that all seeds leave undecided.
"""

_LEAST, _MOST = 0, 1
_GUARD = 0.2
"""A crossing is at least this share of the gap, in logarithms, away from its ends."""
_SLOW_STEPS = 3
_FARTHEST = 7.0
"""Margins beyond this count as it: a link that is never idle has an infinite one."""

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


def next_buffer(table: Table, start: int, limit: int, margins: Margins) -> int | None:
    """Return the next buffer to try, 1 to ``limit``; None if no further one is useful.

    Between a buffer below the boundary and one above, it is where a line through their
    ``margins`` crosses zero. Buffers without a margin halve the gap.
    """
    if not table:
        return min(max(start, 1), limit)
    found = bracket(table)
    top = max((found.low, *found.unsure))
    if found.high is None and top < limit:
        return min(2 * top, limit)
    first = min(b for b in (*found.unsure, found.high, limit) if b is not None)
    if found.low == 0 and first > 1:
        return first // 2
    if found.high is not None and not found.unsure:
        return _narrow(found.low, found.high, margins)
    return _narrow_unsure(found, first, top, margins)


def _narrow(low: int, high: int, margins: Margins) -> int | None:
    """Move the end of a bracket without unsure buffers that is farther from its crossing."""
    if high - low <= 1:
        return None
    below, above = (_crossing(low, high, margins, end) for end in (_MOST, _LEAST))
    return above if high - above > below - low else below


def _narrow_unsure(found: Bracket, first: int, top: int, margins: Margins) -> int | None:
    """Split the gap below the sure upper end, then the gap above the sure lower end.

    The next buffer is at least half the resolution away from an unsure one.
    """
    step = max(1, top // FINENESS)
    if found.high is not None and found.high - top > step:
        return max(top + (step + 1) // 2, _crossing(top, found.high, margins, _LEAST))
    step = max(1, first // FINENESS)
    if first - found.low > step:
        return min(first - (step + 1) // 2, _crossing(found.low, first, margins, _MOST))
    return None


def _crossing(low: int, high: int, margins: Margins, end: int) -> int:
    """Return the buffer strictly between at which one end of the margin crosses zero.

    The line is straight in logarithms. It is the middle if the margins do not enclose zero, or
    if earlier lines hardly narrowed the gap.
    """
    if low not in margins or high not in margins or _slow(low, high, margins):
        return middle(low, high)
    short, over = (min(max(margins[b][end], -_FARTHEST), _FARTHEST) for b in (low, high))
    if not short < 0.0 < over:
        return middle(low, high)
    share = min(max(short / (short - over), _GUARD), 1.0 - _GUARD)
    return min(max(round(low * math.exp(share * math.log(high / low))), low + 1), high - 1)


def _slow(low: int, high: int, tried: Iterable[int]) -> bool:
    """Whether several tried buffers lie closer to the gap than it is wide."""
    width = high - low
    near = [b for b in tried if low - width < b < low or high < b < high + width]
    return len(near) >= _SLOW_STEPS


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
