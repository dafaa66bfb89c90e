"""Counters of an interface over time, from a CSV file; its busiest hour, and hour by hour."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from forebay.measure.estimate import Floats, MeasureError
from forebay.measure.records import read_text
from forebay.words import Fact

_NEEDED = ("time_s", "octets", "drops")
_OPTIONAL = ("packets", "queue_packets")
_WRITE = Fact("write.counters")
_WRAPS = (2.0**32, 2.0**64)
_MORE = 1.1  # tolerance over the link's rate, because the clocks of poller and router differ
_NEAR = 0.75
"""A counter of packets or drops that falls from this share of its largest value has wrapped."""
_CLEARED = 1 / 3  # share of the intervals in which counters may be cleared; amounts fall more often


@dataclass(frozen=True)
class Intervals:
    """Amounts between samples: shapes (n,); ``queue_packets`` if it was sampled.

    Intervals in which counters were cleared are left out.

    ``times`` are those of the samples before, in the table's own seconds.
    """

    seconds: Floats
    octets: Floats
    drops: Floats
    packets: Floats | None
    queue_packets: Floats | None
    notes: list[Fact]
    times: Floats


def read(path: str | os.PathLike[str], rate_bps: float) -> Intervals:
    """Read a file of samples. Octets, packets and drops are either increasing counters, which may
    wrap or be cleared, or amounts since the previous sample; ``rate_bps`` decides which of them.

    Raises MeasureError with its number if a line cannot be read.
    """
    columns = _columns(os.fspath(path))
    time = columns["time_s"]
    seconds = np.diff(time)
    if len(seconds) < 1 or not (seconds > 0).all():
        raise MeasureError("measure.times", hint=_WRITE, file=str(path))
    counted = [columns[name] for name in ("octets", "drops", "packets") if name in columns]
    kept, notes = _meaning(counted, time, rate_bps, str(path))
    octets, drops, *packets = (x[1:] if kept is None else _rise(x)[kept] for x in counted)
    kept = np.ones(len(seconds), dtype=bool) if kept is None else kept
    queue = columns["queue_packets"][1:][kept] if "queue_packets" in columns else None
    sent = packets[0] if packets else None
    return Intervals(seconds[kept], octets, drops, sent, queue, notes, time[:-1][kept])


def _meaning(
    counted: list[Floats], time: Floats, rate_bps: float, path: str
) -> tuple[NDArray[np.bool_] | None, list[Fact]]:
    """Return the intervals in which counters, octets first, were not cleared; None for amounts."""
    octets, seconds = counted[0], np.diff(time)
    most = _MORE * rate_bps / 8 * seconds
    cleared = np.any([_cleared(counter) for counter in counted[1:]], axis=0)
    cleared |= (np.diff(octets) < 0) & (_rise(octets) > most)
    # Where a counter of 32 bits has time to wrap more often than its values tell.
    narrow = bool((np.diff(octets) < 0).any()) and _wrap(octets) == _WRAPS[0]
    untold = np.asarray((rate_bps / 8 * seconds >= _WRAPS[0]) & narrow)
    possible = bool((_rise(octets)[~cleared] <= most[~cleared]).all())
    seldom = np.count_nonzero(cleared) <= _CLEARED * len(cleared)
    if possible and seldom and octets[-1] != octets[0]:
        notes, every = [Fact("counters.rising")], len(cleared)
        if np.count_nonzero(untold) > _CLEARED * every:
            raise MeasureError(
                "measure.wraps", file=path, wraps=_WRAPS[0] * 8 / rate_bps,
                every=float(np.median(seconds)),
            )  # fmt: skip
        if untold.any():
            notes.append(Fact("counters.wrap", out=np.count_nonzero(untold), every=every))
        if cleared.any():
            when = ", ".join(f"{moment:g}" for moment in time[1:][cleared][:3])
            out = np.count_nonzero(cleared)
            notes.append(Fact("counters.cleared", when=when, out=out, every=every))
        return ~(cleared | untold), notes
    if bool((octets[1:] <= most).all()):
        return None, [Fact("counters.amounts")]
    raise MeasureError("measure.above-rate", file=path)


def _wrap(counter: Floats) -> float:
    return _WRAPS[0] if counter.max() < _WRAPS[0] else _WRAPS[1]


def _rise(counter: Floats) -> Floats:
    """Return the increases of a counter; after a decrease it has wrapped, at 32 or 64 bits."""
    rise = np.diff(counter)
    return np.asarray(np.where(rise < 0, rise + _wrap(counter), rise))


def _cleared(counter: Floats) -> NDArray[np.bool_]:
    """Return where a counter falls that was not near its largest value."""
    near = counter[:-1] >= _NEAR * _wrap(counter)
    return np.asarray((np.diff(counter) < 0) & ~near)


def _columns(path: str) -> dict[str, Floats]:
    rows = csv.DictReader(read_text(path, _WRITE).splitlines(), skipinitialspace=True)
    try:
        return _values(rows, path)
    except csv.Error as error:  # a cell of more than 131072 characters
        line = rows.line_num + 1
        raise MeasureError("measure.csv", hint=_WRITE, file=path, line=line, why=error) from None


def _values(rows: csv.DictReader[str], path: str) -> dict[str, Floats]:
    names = [name.strip() for name in rows.fieldnames or []]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise MeasureError("measure.no-column", hint=_WRITE, file=path, name=missing[0])
    rows.fieldnames = names
    kept: dict[str, list[float]] = {n: [] for n in (*_NEEDED, *_OPTIONAL) if n in names}
    for number, row in enumerate(rows, 2):
        for name, values in kept.items():
            values.append(_number(path, number, name, row[name]))
    return {name: np.array(values) for name, values in kept.items()}


def _number(path: str, line: int, name: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise MeasureError("measure.number", file=path, value=text or "", line=line, name=name)
    return value


HOUR_S = 3600.0
_EPOCH_S = 1e8  # from here on, times are taken as seconds since 1970
_WHOLE = 0.9  # share of an hour that must have rows, so that it counts as one


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
    def name(self) -> Fact:
        """What it is, if it is the busiest of its table."""
        if self.seconds < _WHOLE * HOUR_S:
            return Fact("counters.short")
        long = len(self.rows.seconds) == 1 and self.seconds > HOUR_S / _WHOLE
        return Fact("counters.long-row" if long else "counters.hour")


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
        return _part(rows, slice(0, len(ends)))
    rates = np.where(long, (sums[last] - sums[first]) / (spans[last] - spans[first]), -1.0)
    best = int(np.argmax(rates))
    return _part(rows, slice(best, int(last[best])))


def hours(rows: Intervals) -> Iterator[Stretch]:
    """Yield the table hour after hour, from its first row; the last one may be shorter."""
    number = ((rows.times - rows.times[0]) / HOUR_S + 1e-9).astype(np.int64)
    for hour in np.unique(number).tolist():
        own = np.flatnonzero(number == hour)
        yield _part(rows, slice(int(own[0]), int(own[-1]) + 1))


def _part(rows: Intervals, which: slice) -> Stretch:
    packets, queue = rows.packets, rows.queue_packets
    some = replace(
        rows, times=rows.times[which], seconds=rows.seconds[which], octets=rows.octets[which],
        drops=rows.drops[which], packets=None if packets is None else packets[which],
        queue_packets=None if queue is None else queue[which],
    )  # fmt: skip
    return Stretch(some, float(some.times[0]), float(some.times[-1] + some.seconds[-1]))
