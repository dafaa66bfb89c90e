"""Which size to run next: a pure function of the rows so far.

First the coarse curve; then its ends, until the goals are met somewhere between them; then the
gaps in which the region of the goals begins and ends, where the curves cross their targets.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from forebay.outcome import Verdict
from forebay.search.rows import Row, region, row_below

NEAR = 1.15
"""Ratio of two sizes that noise does not tell apart: no size between them is run."""
_NEAR_TOP = 1.4
"""The same where the region ends: nothing but the largest size hangs on it."""
_STEP = 4.0
MOST = 24
_MOST_EXACT = 90


def next_size(
    rows: Sequence[Row], coarse: Iterable[int], limit: int, smallest: int = 1
) -> int | None:
    """Return the next size to run; None if no further one tells more.

    Parameters
    ----------
    rows : sorted by size.
    coarse : the sizes to begin with, the most telling first.
    limit, smallest : the largest and the smallest size to try, packets.
    """
    exact = bool(rows) and all(m.low is None or m.low == m.high for m in rows[0].metrics)
    for packets in coarse:
        if not any(_close(packets, row.packets, exact) for row in rows):
            return packets
    if not rows or len(rows) >= (_MOST_EXACT if exact else MOST):
        return None
    part = region(rows)
    if not part:
        return _towards(rows, limit, exact, smallest)
    return _start(rows, part, exact, smallest) or _end(rows, part, limit, exact)


def _close(packets: int, tried: int, exact: bool) -> bool:
    ratio = 1.0 if exact else NEAR
    return packets <= ratio * tried and tried <= ratio * packets


def _start(rows: Sequence[Row], part: Sequence[Row], exact: bool, smallest: int) -> int | None:
    """Return a size in the gap where the region begins: by the means, then by the intervals."""
    first = part[0]
    below = row_below(rows, first)
    if below is None:
        if first.packets <= smallest:
            return None
        return max(smallest, round(first.packets / _STEP))
    between = _between(below, first, 1.0 if exact else NEAR, "value")
    if between is not None:
        return between
    shown = next((row for row in part if row.verdict() is Verdict.MET), None)
    if shown is None or shown is first:
        return None
    under = row_below(rows, shown)
    assert under is not None, "the first of the region is smaller"
    return _between(under, shown, 1.0 if exact else NEAR, "worst")


def _end(rows: Sequence[Row], part: Sequence[Row], limit: int, exact: bool) -> int | None:
    """Return a size in the gap where the region ends, if a goal ends it."""
    last = part[-1]
    if not any(goal.kind.direction != "increasing" for goal in last.goals):
        return None
    above = [row for row in rows if row.packets > last.packets]
    if not above:
        return None if last.packets >= limit else min(limit, math.ceil(last.packets * _STEP))
    return _between(last, above[0], 1.0 if exact else _NEAR_TOP, "value")


def _towards(rows: Sequence[Row], limit: int, exact: bool, least: int) -> int | None:
    """Return a size nearer to where all goals may be met, if one may be."""
    smallest, largest = rows[0], rows[-1]
    needs = max(largest.excess("increasing"), largest.excess("non-monotone")) > 0.0
    rising = needs and not largest.missed("decreasing")
    if rising and largest.packets < limit:
        return min(limit, math.ceil(largest.packets * _STEP))
    if smallest.packets > least and smallest.excess("increasing") <= 0.0:
        return max(least, round(smallest.packets / _STEP))
    if any(row.missed("increasing") and row.missed("decreasing") for row in rows):
        return None  # a size fails both goals, so the goals leave none between
    pairs = list(pairwise(rows))
    gaps = [
        (a, b) for a, b in pairs if a.excess("increasing") > 0.0 and b.excess("decreasing") > 0.0
    ]
    if not gaps:
        at = min(range(len(rows)), key=lambda i: rows[i].excess())
        if rising and at == len(rows) - 1:
            return None
        gaps = sorted(pairs[max(0, at - 1) : at + 1], key=lambda gap: -_ratio(*gap))
    sizes = (_between(a, b, 1.0 if exact else NEAR) for a, b in gaps)
    return next((packets for packets in sizes if packets is not None), None)


def _ratio(a: Row, b: Row) -> float:
    return b.packets / a.packets


def _between(a: Row, b: Row, near: float, at: str = "") -> int | None:
    """Return a size between two rows; None if they are near.

    It is where the line between their excesses, in logarithms, crosses, or the middle without `at`.
    """
    if b.packets - a.packets <= 1 or _ratio(a, b) <= near:
        return None
    short, over = (a.excess(at=at), b.excess(at=at)) if at else (0.0, 0.0)
    share = 0.5 if short * over > 0.0 or short == over else short / (short - over)
    packets: int = round(a.packets * _ratio(a, b) ** min(max(share, 0.2), 0.8))
    return min(max(packets, a.packets + 1), b.packets - 1)
