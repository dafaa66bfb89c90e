"""The rate of a link over time: a Mahimahi trace, a CSV file of times and rates, or steps."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, Unpack

from pydantic import Strict, model_validator

from forebay.scenario.base import DAY, Between, FromFile, ScenarioModel, shorthand, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay.scenario import inputs

_MOST_STEPS = 1_000_000
_OPPORTUNITY_BITS = 1500 * 8.0
"""What a line of a Mahimahi trace lets pass: a packet of 1500 bytes."""
_MOST_RATE = 1e13
_DIGITS = 15
"""More milliseconds than any trace has."""
_PS = 1e12
Steps = tuple[tuple[float, float], ...]
_Line = tuple[int, str]
"""The number of a line in its file, and what it has."""


@dataclass(frozen=True, slots=True)
class RateFile(FromFile):
    """Rates of a file. Two files are equal if their rates are.

    Attributes
    ----------
    path : of the file; relative to the current folder, or absolute.
    steps : when each rate begins, seconds from 0, and the rate, bit/s.
    period_s : length of the trace, seconds.
    """

    file_kind: ClassVar[str] = "a trace of rates"

    steps: Steps = field(repr=False)
    period_s: float
    path: str = field(compare=False)

    def canonical(self) -> dict[str, str]:
        text = repr((self.steps, self.period_s))
        return {"rates": hashlib.sha256(text.encode()).hexdigest()}

    @classmethod
    def of(cls, path: str, content: bytes) -> Self:
        try:
            written = [line.strip() for line in content.decode("utf-8-sig").split("\n")]
        except UnicodeDecodeError:
            raise _wrong(path, Fact("rates.binary")) from None
        numbered = enumerate(written, 1)
        lines = [(row, line) for row, line in numbered if line and not line.startswith("#")]
        if not lines or len(lines) > 20 * _MOST_STEPS:
            raise _wrong(path, Fact("rates.lines", lines=len(lines)))
        if any("," in line for _, line in lines[:2]):
            steps = _rows(path, lines)
            return cls(steps, _length(steps), path)
        return cls(*_mahimahi(path, lines), path)


def _mahimahi(path: str, lines: Sequence[_Line]) -> tuple[Steps, float]:
    """Return the rate of each millisecond in steps: packets of the lines that name its end."""
    times = []
    for row, line in lines:
        if not line.isascii() or not line.isdigit() or len(line) > _DIGITS:
            raise _wrong(path, Fact("rates.no-milliseconds", row=row, line=line))
        times.append(int(line))
        if len(times) > 1 and times[-1] < times[-2]:
            raise _wrong(path, Fact("rates.earlier", row=row, line=line))
    last = times[-1]
    if not 0 < last <= 1000 * DAY:
        raise _wrong(path, Fact("rates.length"))
    packets = Counter(max(time, 1) for time in times)
    steps = [(0.0, packets[1] * _OPPORTUNITY_BITS * 1e3)]
    for end in sorted({*packets, *(time + 1 for time in packets)} - {1, last + 1}):
        rate = packets[end] * _OPPORTUNITY_BITS * 1e3
        if rate != steps[-1][1]:
            steps.append(((end - 1) / 1e3, rate))
    return tuple(steps), last / 1e3


def _rows(path: str, lines: Sequence[_Line]) -> Steps:
    first = lines[0][1].split(",")
    if all(not any(sign.isdigit() for sign in cell) for cell in first):
        lines = lines[1:]
    steps: list[tuple[float, float]] = []
    for row, line in lines:
        cells = line.split(",")
        if len(cells) != 2:
            raise _wrong(path, Fact("rates.cells", row=row, line=line))
        time, rate = _number(path, row, cells[0], Duration), _number(path, row, cells[1], Rate)
        if steps and not time > steps[-1][0]:
            raise _wrong(path, Fact("rates.not-later", row=row, time=time))
        if not 0 <= rate <= _MOST_RATE:
            raise _wrong(path, Fact("rates.rate-of-line", row=row, rate=rate))
        steps.append((time, rate))
    return tuple(steps)


def _number(path: str, row: int, text: str, kind: type[Duration] | type[Rate]) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(kind.parse(text))
    except ScenarioError as error:
        raise _wrong(path, Fact("rates.quantity", row=row, said=str(error))) from None


def _wrong(path: str, what: Fact) -> ScenarioError:
    return ScenarioError("bad-rates.file", value=path, what=what)


def _length(steps: Steps) -> float:
    """The last rate holds for as long as the one before it, in a trace at equal intervals."""
    return 2 * steps[-1][0] - steps[-2][0] if len(steps) > 1 else 1.0


class RateTrace(ScenarioModel):
    """The rate of a link over time. Text alone is the path of a file.

    A file is a Mahimahi trace, or a CSV file with a time and a rate on each line, in s and bit/s or
    with units.

    >>> steps = [["0 s", "10 Mbit/s"], ["5 s", "20 Mbit/s"]]
    >>> forebay.RateTrace(steps=steps, period="10 s").period
    10.0
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.RateTraceDict]) -> None: ...

    file: RateFile | None = such_as("lte.csv")
    """Path of a trace; or write steps."""
    steps: tuple[tuple[Duration, Rate], ...] | None = such_as(
        [["0 s", "12 Mbit/s"], ["2 s", "6 Mbit/s"]]
    )
    """When each rate begins, ascending from 0 s, and the rate, which may be 0."""
    period: Annotated[Duration | None, Between(Duration(1e-6), DAY)] = None
    """Length of the trace. If it is not set, a Mahimahi trace ends with its last line, and the last
    of other rates holds for as long as the one before it."""
    repeat: Annotated[bool, Strict()] = True
    """Whether it begins again; if not, the last rate stays."""

    @model_validator(mode="after")
    def _one_trace(self) -> Self:
        if (self.file is None) == (self.steps is None):
            both = self.file is not None
            raise ScenarioError("contradiction.trace-or-steps", field="file", both=both)
        where = "steps" if self.file is None else "file"
        for fault, holds in _faults(self.rates, self.length_s, repeats=self.repeat).items():
            if holds:
                raise ScenarioError("bad-rates.steps", Fact(fault, most=_MOST_STEPS), field=where)
        return self

    @property
    def rates(self) -> Steps:
        """When each rate begins, s, and the rate, bit/s."""
        return self.file.steps if self.file is not None else self.steps or ()

    @property
    def length_s(self) -> float:
        """The period in seconds."""
        if self.period is not None:
            return float(self.period)
        if self.file is not None:
            return self.file.period_s
        return _length(self.rates) if self.rates else 0.0

    @property
    def mean(self) -> Rate:
        """Mean rate over the period, bit/s."""
        ends, total = [*(start for start, _ in self.rates[1:]), self.length_s], 0.0
        for (start, rate), end in zip(self.rates, ends, strict=True):
            total += rate * (end - start)
        return Rate(total / self.length_s)

    def bits(self, until_s: Iterable[float]) -> list[float]:
        """Return the bits that the link can send from 0 to each time.

        All times are whole picoseconds, as those of the engines: a period that is none would run
        away from theirs.
        """
        steps, period, repeats = self.for_core().values()
        starts, sums = [start for start, _ in steps], [0.0]
        for (start, rate), end in zip(steps, [*starts[1:], period], strict=True):
            sums.append(sums[-1] + rate * (end - start) / _PS)
        totals = []
        for end_s in until_s:
            end = round(end_s * _PS)
            periods, within = divmod(end, period) if repeats else (0, end)
            step = bisect_right(starts, within) - 1
            part = steps[step][1] * (within - starts[step]) / _PS
            totals.append(periods * sums[-1] + sums[step] + part)
        return totals

    def scaled(self, share: float) -> RateTrace:
        """Return the same trace with all rates multiplied by `share`."""
        steps = tuple((Duration(start), Rate(rate * share)) for start, rate in self.rates)
        period = Duration(self.length_s)
        return self.model_copy(update={"file": None, "steps": steps, "period": period})

    def for_core(self) -> dict[str, Any]:
        """Return the steps in picoseconds and bit/s, the period, and whether it repeats."""
        steps = [(round(start * _PS), float(rate)) for start, rate in self.rates]
        period = round(self.length_s * _PS)
        return {"steps": steps, "period_ps": period, "repeats": self.repeat}


def _faults(steps: Steps, length_s: float, *, repeats: bool) -> dict[str, bool]:
    """What may be wrong with a trace, and whether it is; the first that is hides the others."""
    if not steps:
        return {"rates.none": True}
    times = [time for time, _ in steps]
    rates = [rate for _, rate in steps]
    least = min(later - sooner for sooner, later in pairwise([*times, length_s]))
    return {
        "rates.steps": len(steps) > _MOST_STEPS,
        "times.from-zero": times[0] != 0.0,
        "times.descending-in-period": least <= 0,
        "times.close": least < 1e-6,
        "times.a-day": length_s > DAY,
        "rates.rate": not all(0 <= rate <= _MOST_RATE for rate in rates),
        "rates.nothing": not any(rates) or (not repeats and not rates[-1]),
    }


OR_FILE = shorthand("file", str | PathLike, str | RateTrace | None, "wrong-type.trace")
"""Validator of a field with a RateTrace: text is the path of its file."""
