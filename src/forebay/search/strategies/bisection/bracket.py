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

Margins = Mapping[int, tuple[float, float]]
"""How far each tried buffer lies above the boundary: least and most, with all available seeds.

The distance is the logarithm of the normalized excess (`Goal.log_normalized_excess`). Where noise
hides the boundary, a buffer is shown to lie below it if even the most is negative, and above it if
even the least is positive. So the two ends have zeros of their own, and a search of one of them
does not stop at buffers that all seeds leave undecided.
"""

_LEAST, _MOST = 0, 1
_SPARE = 2
"""Tries that lines may cost more than halving, where the curve is no line."""
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
    ``margins`` crosses zero, unless such lines have already cost more tries than they may.
    Buffers without a margin halve the gap.
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
    return _split(found, first, top, _Lines(table, start, margins))


def _split(found: Bracket, first: int, top: int, lines: _Lines) -> int | None:
    """Split the gap below the sure upper end, or the gap above the sure lower end.

    Without unsure buffers both are one gap, and the end that is farther from its crossing moves.
    Otherwise the next buffer is at least half the resolution away from those tried.
    """
    if found.high is not None and not found.unsure:
        if found.high - found.low <= 1:
            return None
        below, above = (lines.crossing(found.low, found.high, end) for end in (_MOST, _LEAST))
        return above if found.high - above > below - found.low else below
    step = max(1, first // FINENESS)
    if found.high is not None and found.high - top > step:
        low, high, end = top, found.high, _LEAST
    elif first - found.low > step:
        low, high, end = found.low, first, _MOST
    else:
        return None
    away = (step + 1) // 2
    return min(max(lines.crossing(low, high, end), low + away), high - away)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines through the margins of the tried buffers, and the tries that they may cost."""

    table: Table
    start: int
    margins: Margins

    def crossing(self, low: int, high: int, end: int) -> int:
        """Return the buffer strictly between at which one end of the margin crosses zero.

        The line is straight in logarithms. It is the middle if the margins do not enclose zero, or
        if only halving leaves a gap that is narrow enough.
        """
        widest = self._widest_gap(high)
        nearest, farthest = math.ceil(high - widest), math.floor(low + widest)
        if low not in self.margins or high not in self.margins or nearest > farthest:
            return middle(low, high)
        short, over = (min(max(self.margins[b][end], -_FARTHEST), _FARTHEST) for b in (low, high))
        if not short < 0.0 < over:
            return middle(low, high)
        at = round(low * math.exp(short / (short - over) * math.log(high / low)))
        return min(max(at, nearest, low + 1), farthest, high - 1)

    def _widest_gap(self, high: int) -> float:
        """Return how wide the gap below ``high`` may be after the next try.

        Doubling and halving from ``start`` leaves a gap between two of its multiples by powers of
        two. Each try between these would have halved it; lines may cost ``_SPARE`` more.
        """
        bottom = float(max(self.start, 1))
        while 2.0 * bottom < high:
            bottom *= 2.0
        while bottom >= high:
            bottom /= 2.0
        spent = sum(bottom < b < 2.0 * bottom for b in self.table)
        return max(1.0, bottom * 2.0 ** (_SPARE - 1 - spent))


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
