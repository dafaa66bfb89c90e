"""The result of a measurement: estimates, refused estimates with the reason, and a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.errors import Words, current_words
from forebay.measure.errors import MeasureError
from forebay.measure.estimate import Estimate, Refused
from forebay.scenario import dumps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from forebay.scenario import Scenario

MEANING = (
    "n counts the TCP flows in congestion avoidance that cross this link at one time; "
    "not the five-tuples seen, and not the flows that are open"
)


@dataclass(frozen=True)
class Measured:
    """Estimates by name, each with its interval or its bias.

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

    packets: int
    seconds: float
    estimates: dict[str, Any]
    refused: list[Refused]
    notes: list[str]
    curves: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    made: Scenario | None = None
    not_made: str = ""
    assumed_bytes: int | None = None
    listed: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.estimates)
        return f"Measured({self.packets} packets in {self.seconds:.4g} s: {names})"

    def packet_list(self) -> str:
        """Return a file for a class of kind replay: the packets of unresponsive traffic.

        Times are in seconds from the first of these packets. Raises MeasureError if none is stored.
        """
        if self.listed is None:
            raise MeasureError("no packets were stored; write replay=True")
        at_ns, octets = self.listed
        packets = zip((at_ns - at_ns[0]).tolist(), octets.tolist(), strict=True)
        rows = (f"{at // 10**9}.{at % 10**9:09d},{size}" for at, size in packets)
        return "\n".join(["time_s,bytes", *rows, ""])

    def scenario(self) -> Scenario:
        """Return the scenario of the estimates. Raises MeasureError if they do not suffice."""
        if self.made is None:
            on_line = current_words() is Words.COMMAND_LINE and ";" not in self.not_made
            leave = "; leave --scenario out" if on_line else ""
            raise MeasureError(f"no scenario: {self.not_made}{leave}")
        return self.made

    def scenario_toml(self) -> str:
        """Return the scenario as TOML, with the notes as comments.

        Raises MeasureError if the estimates do not suffice for one.
        """
        notes = [*self.notes, *(f"refused: {one.name}: {one.why}" for one in self.refused)]
        lines = [f"# {line}" for note in notes for line in note.splitlines()]
        return "\n".join([f"# {MEANING}", *lines, "", dumps(self.scenario())])

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``measure --json``."""
        return {
            "schema": 1,
            "sources": self.sources,
            "packets": self.packets,
            "assumed_bytes": self.assumed_bytes,
            "seconds": self.seconds,
            "flows_mean": MEANING,
            "estimates": {name: _plain(told) for name, told in self.estimates.items()},
            "refused": [{"name": one.name, "why": one.why} for one in self.refused],
            "notes": self.notes,
            "curves": self.curves,
        }


def _plain(told: Any) -> Any:
    if isinstance(told, Estimate):
        return told.to_dict()
    if isinstance(told, dict):
        return {name: _plain(one) for name, one in told.items()}
    return told
