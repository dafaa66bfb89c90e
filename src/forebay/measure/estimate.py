"""Estimates: a value, its interval and its bias; what a measurement found; and its error."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.errors import ForebayError
from forebay.scenario import Scenario, dumps
from forebay.words import Fact

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class MeasureError(ForebayError, ValueError):
    """Unreadable records, or options that contradict them; the text is one line."""


NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; ``n`` is the number of samples.

    ``low`` and ``high`` are None if the records give no interval; ``bias`` then gives the direction
    of the error and its reason.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    bias: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the form in a JSON document."""
        told = {"value": self.value, "low": self.low, "high": self.high, "n": self.n}
        return told | ({"bias": self.bias} if self.bias else {})


BATCHES = 20
STUDENT_95 = 2.0930240544083087
"""Two-sided 95 % point of Student's t with BATCHES - 1 degrees of freedom. scipy would compute it,
and loading that takes a quarter of a second for each file."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An estimate that the records do not allow, and why."""

    name: str
    why: str


def batch_mean(values: Floats) -> Estimate:
    """Return the mean of a series, with the t interval over the means of its twenty batches."""
    size = len(values) // BATCHES
    mean = float(values.mean())
    if size < 1:
        return Estimate(mean, None, None, len(values), str(Fact("bias.short")))
    means = values[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    half = STUDENT_95 * float(means.std(ddof=1)) / math.sqrt(BATCHES)
    return Estimate(mean, mean - half, mean + half, BATCHES)


def share(part: int, whole: int, bias: str = "", **values: object) -> Estimate:
    """Return a share with its Wilson score interval (Wilson 1927), assuming independent events.

    ``bias`` is the kind of a fact with these values.
    """
    p, z2 = part / whole, NORMAL_95**2
    middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
    spread = math.sqrt(p * (1 - p) / whole + z2 / (4 * whole**2)) / (1 + z2 / whole)
    half = NORMAL_95 * spread
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    told = str(Fact(bias, **values))
    return Estimate(p, min(low, p), max(high, p), whole, told)  # rounding, where p is 0 or 1


def quantiles(values: Floats, counts: Counts, independent: int) -> dict[str, Any]:
    """Return mean, median, 95 % and 99 % of a histogram, in the form of an Outcome.

    The interval of a quantile is between order statistics.

    Parameters
    ----------
    values, counts : shape (bins,); centres of the bins, ascending, and their counts.
    independent : effective number of independent samples.
    """
    mean = float((values * counts).sum() / counts.sum())
    deviation = math.sqrt(float(((values - mean) ** 2 * counts).sum() / counts.sum()))
    half = NORMAL_95 * deviation / math.sqrt(max(independent, 1))
    told = {"mean": Estimate(mean, max(mean - half, 0.0), mean + half, independent).to_dict()}
    cumulated = np.cumsum(counts) / counts.sum()
    for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        half = NORMAL_95 * math.sqrt(q * (1 - q) / max(independent, 1))
        middle, low, high = (
            float(values[min(int(np.searchsorted(cumulated, at)), len(values) - 1)])
            for at in (q, max(q - half, 0.0), min(q + half, 1.0))
        )
        told[name] = Estimate(middle, low, high, independent).to_dict()
    return told


@dataclass
class Measured:
    """Estimates by name, each with its interval or its bias; a measurement adds them one by one.

    What its methods say is the kind of a fact, with its values.

    Attributes
    ----------
    packets, seconds : number of packets and duration of the records.
    assumed_bytes : size of a packet by which octets were divided to count packets; None if these
        were counted.
    estimates : an `Estimate`, or a table of them: by method, by scale, or mean and quantiles.
    refused : estimates that these records do not allow.
    notes : limits of the estimates.
    curves : data of the figures.
    """

    packets: int = 0
    seconds: float = 0.0
    estimates: dict[str, Any] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    made: Scenario | None = None
    not_made: Fact = field(default_factory=lambda: Fact(""))
    assumed_bytes: int | None = None
    listed: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.estimates)
        return f"Measured({self.packets} packets in {self.seconds:.4g} s: {names})"

    def add(self, name: str, value: float, n: int, bias: str = "", **values: object) -> None:
        """Add an estimate without an interval."""
        self.estimates[name] = Estimate(value, None, None, n, str(Fact(bias, **values)))

    def refuse(self, name: str, why: str, **values: object) -> None:
        """Record that the records do not allow an estimate."""
        self.refused.append(Refused(name, str(Fact(why, **values))))

    def note(self, kind: str, **values: object) -> None:
        """Add a limit of the estimates."""
        self.notes.append(str(Fact(kind, **values)))

    def packet_list(self) -> str:
        """Return a file for a class of kind replay: the packets of unresponsive traffic.

        Times are in seconds from the first of these packets. Raises MeasureError if none is stored.
        """
        if self.listed is None:
            raise MeasureError("measure.nothing-stored")
        at_ns, octets = self.listed
        packets = zip((at_ns - at_ns[0]).tolist(), octets.tolist(), strict=True)
        rows = (f"{at // 10**9}.{at % 10**9:09d},{size}" for at, size in packets)
        return "\n".join(["time_s,bytes", *rows, ""])

    def scenario(self) -> Scenario:
        """Return the scenario of the estimates. Raises MeasureError if they do not suffice."""
        if self.made is None:
            raise MeasureError("measure.no-scenario", why=self.not_made, hint=self.not_made.hint)
        return self.made

    def scenario_toml(self) -> str:
        """Return the scenario as TOML, with the notes as comments.

        Raises MeasureError if the estimates do not suffice for one.
        """
        refused = (f"refused: {one.name}: {one.why}" for one in self.refused)
        lines = [f"# {line}" for note in (*self.notes, *refused) for line in note.splitlines()]
        return "\n".join([f"# {Fact('measured.n')}", *lines, "", dumps(self.scenario())])

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``measure --json``."""
        return {
            "schema": 1,
            "sources": self.sources,
            "packets": self.packets,
            "assumed_bytes": self.assumed_bytes,
            "seconds": self.seconds,
            "flows_mean": str(Fact("measured.n")),
            "estimates": {name: _plain(told) for name, told in self.estimates.items()},
            "refused": [asdict(one) for one in self.refused],
            "notes": self.notes,
            "curves": self.curves,
        }


def _plain(told: Any) -> Any:
    if isinstance(told, Estimate):
        return told.to_dict()
    if isinstance(told, dict):
        return {name: _plain(one) for name, one in told.items()}
    return told
