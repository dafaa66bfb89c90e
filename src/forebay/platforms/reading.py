"""The size of one queue in a snippet, and notes about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from forebay.errors import argument
from forebay.platforms.port import Port

NoteKind = Literal["note", "trap", "uncertain"]


@dataclass(frozen=True, slots=True)
class Note:
    """A note: a fact, a warning, or an uncertain fact."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def note(text: str) -> Note:
    """Return a note with a fact."""
    return Note("note", text)


def trap(text: str) -> Note:
    """Return a warning: the configuration may not have the expected effect."""
    return Note("trap", text)


def uncertain(text: str) -> Note:
    """Return a fact that is badly documented or differs between releases."""
    return Note("uncertain", text)


def burst_unwritten(size: int, why: str) -> Note:
    """Return the note for a shaper's bucket that the lines do not have."""
    return trap(f"the shaper's burst of {size} B is not written: {why}")


def pool_unknown() -> Note:
    """Return the note for a size that is a share of an unknown pool."""
    return trap(f"the pool's size is not here: write {argument('pool_bytes', 'pool')}")


@dataclass(frozen=True, slots=True)
class ConfiguredQueue:
    """One queue of a snippet.

    Attributes
    ----------
    line : line number, from 1.
    queue : its name, such as ``"policy-map P, class C"``.
    written : the words that set its size.
    bytes, packets : in full packets as in a scenario; None if the text does not determine them
        (a share of an unknown pool).
    rounding_bytes : largest error of the size by the resolution of the notation.
    above_bytes : distance to the notation's next smaller step. A size that is less than this above
        the wanted size is the smallest one that can be written.
    served : the rate that the text gives the queue; None if the port's rate serves it.
    also : the other lines of the text that were read for it.
    marks_bytes : the step K from which on every packet of ECN-capable flows is marked; None if the
        text has none.
    discipline : the queue discipline with a scenario's name; None if the reader does not tell.
    aims : what it aims at: red's min and max in bytes, or a target in s; () if not read.
    """

    line: int
    queue: str
    written: str
    bytes: int | None
    packets: int | None
    rounding_bytes: int
    notes: tuple[Note, ...] = ()
    above_bytes: int = 0
    served: Served | None = None
    also: frozenset[int] = frozenset()
    marks_bytes: int | None = None
    discipline: str | None = None
    aims: tuple[float, ...] = ()

    def seconds(self, port: Port) -> float | None:
        """Time in s in which the full queue drains; None if its size is unknown."""
        if self.bytes is None:
            return None
        if self.served is None:
            return port.seconds(self.bytes)
        return self.served.drain_s or 8 * self.bytes / self.served.rate_bps

    def serving(
        self, served: Served | None, *notes: Note, also: Iterable[int] = ()
    ) -> ConfiguredQueue:
        """Return the reading with its rate, unless it has one, and what was read for it."""
        return replace(
            self,
            served=self.served or served,
            notes=(*self.notes, *notes),
            also=self.also | frozenset(also),
        )


@dataclass(frozen=True, slots=True)
class Served:
    """The rate in bit/s at which the text lets a queue drain, and what says so.

    ``drain_s`` is the time of a full queue where it is not its bytes at that rate.
    """

    rate_bps: float
    by: str
    drain_s: float | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A statement about buffers that was not understood."""

    line: int
    written: str


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a size in the text; makes the `ConfiguredQueue` from its meaning."""

    line: int
    queue: str
    written: str

    def of_bytes(
        self, size: int, port: Port, notes: Iterable[Note] = (), rounding: int = 0
    ) -> ConfiguredQueue:
        """Return a queue limited in bytes of packets."""
        packets = size // port.packet_bytes
        few = () if packets else (trap("less than one full packet fits"),)
        return ConfiguredQueue(
            self.line, self.queue, self.written, size, packets, rounding, (*notes, *few)
        )

    def of_packets(
        self, packets: int, port: Port, notes: Iterable[Note] = (), rounding: int | None = None
    ) -> ConfiguredQueue:
        """Return a queue limited in packets of any size, counted as full ones."""
        size = packets * port.packet_bytes
        off = port.packet_bytes - 1 if rounding is None else rounding
        return ConfiguredQueue(
            self.line, self.queue, self.written, size, packets, off, tuple(notes)
        )

    def unknown(self, *notes: Note) -> ConfiguredQueue:
        """Return a queue whose size the text does not determine."""
        return ConfiguredQueue(self.line, self.queue, self.written, None, None, 0, notes)
