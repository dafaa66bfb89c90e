"""The busiest hour of a table of counters, and the table hour by hour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from forebay.measure.estimate import Floats
from forebay.measure.table import Intervals

HOUR_S = 3600.0
_EPOCH_S = 1e8
"""From here on, times are taken as seconds since 1970."""
_WHOLE = 0.9
"""Share of an hour that must have rows, so that it counts as one."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a table.

    Attributes
    ----------
    rows : its intervals.
    begin_s, end_s : in the table's own time.
    """

    rows: Intervals
    begin_s: float
    end_s: float

    @property
    def when(self) -> str:
        """When it was: in UTC if the table's times are, else from the table's first row."""
        if self.begin_s >= _EPOCH_S:
            begin, end = (datetime.fromtimestamp(at, UTC) for at in (self.begin_s, self.end_s))
            return f"{begin:%Y-%m-%d %H:%M} to {end:%H:%M} UTC"
        return f"{self.begin_s / HOUR_S:.2f} h to {self.end_s / HOUR_S:.2f} h"

    @property
    def seconds(self) -> float:
        """Its length, by the rows."""
        return float(self.rows.seconds.sum())

    @property
    def name(self) -> str:
        """What it is, if it is the busiest of its table."""
        if self.seconds < _WHOLE * HOUR_S:
            return "the table, which is shorter than an hour"
        if len(self.rows.seconds) == 1 and self.seconds > HOUR_S / _WHOLE:
            return "the busiest row, which is longer than an hour"
        return "the busiest hour"


def busiest(rows: Intervals, span_s: float = HOUR_S) -> Stretch:
    """Return the hour with the most octets, or the row with the highest rate if that is longer.

    It is all of a table that is shorter, or has no whole hour.
    """
    ends = np.cumsum(rows.seconds)
    begins = ends - rows.seconds
    last = np.searchsorted(ends, begins + span_s * (1 + 1e-9), side="right")
    last = np.maximum(last, np.arange(1, len(ends) + 1))  # a row that is longer than the span
    sums = np.concatenate([[0.0], np.cumsum(rows.octets)])
    spans = np.concatenate([[0.0], ends])
    first = np.arange(len(ends))
    long = spans[last] - spans[first] >= _WHOLE * span_s
    if not long.any():
        return part(rows, slice(0, len(ends)))
    rates = np.where(long, (sums[last] - sums[first]) / (spans[last] - spans[first]), -1.0)
    best = int(np.argmax(rates))
    return part(rows, slice(best, int(last[best])))


def hours(rows: Intervals) -> Iterator[Stretch]:
    """Yield the table hour after hour, from its first row; the last one may be shorter."""
    number = ((rows.times - rows.times[0]) / HOUR_S + 1e-9).astype(np.int64)
    for hour in np.unique(number).tolist():
        found = np.flatnonzero(number == hour)
        yield part(rows, slice(int(found[0]), int(found[-1]) + 1))


def part(rows: Intervals, which: slice) -> Stretch:
    """Return some of a table's rows."""

    def of(values: Floats | None) -> Floats | None:
        return None if values is None else values[which]

    some = replace(
        rows,
        times=rows.times[which],
        seconds=rows.seconds[which],
        octets=rows.octets[which],
        drops=rows.drops[which],
        packets=of(rows.packets),
        queue_packets=of(rows.queue_packets),
    )
    begin = float(some.times[0])
    return Stretch(some, begin, float(some.times[-1] + some.seconds[-1]))
