"""What a piece of configuration amounts to, and what to know about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from forebay.errors import argument
from forebay.platforms.port import Port

NoteKind = Literal["note", "trap", "uncertain"]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark: a plain fact, a trap that people fall into, or a fact that is not certain."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def note(text: str) -> Note:
    """Return a plain fact."""
    return Note("note", text)


def trap(text: str) -> Note:
    """Return a warning: the configuration may not do what it seems to."""
    return Note("trap", text)


def uncertain(text: str) -> Note:
    """Return a fact that vendors document badly or that differs between releases."""
    return Note("uncertain", text)


def pool_unknown() -> Note:
    """Return what is missing where a size is a share of a pool that was not given."""
    return trap(f"the pool's size is not here: write {argument('pool_bytes', 'pool')}")


@dataclass(frozen=True, slots=True)
class Reading:
    """One queue of a snippet.

    Attributes
    ----------
    line : where it stands, from 1.
    queue : its name, such as ``"policy-map P, class C"``.
    written : the words that set its size.
    bytes, packets : of full packets as a scenario counts them; None where the text alone
        does not say (a share of an unknown pool).
    rounding_bytes : how far the size may be off because the notation is coarse.
    above_bytes : how far above what is asked this may lie and still be the least that the
        notation can say: the distance to its next smaller step.
    """

    line: int
    queue: str
    written: str
    bytes: int | None
    packets: int | None
    rounding_bytes: int
    notes: tuple[Note, ...] = ()
    above_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a size was found; makes the Reading once its meaning is known."""

    line: int
    queue: str
    written: str

    def of_bytes(
        self, size: int, port: Port, notes: Iterable[Note] = (), rounding: int = 0
    ) -> Reading:
        """Return a queue limited in bytes of packets."""
        packets = size // port.packet_bytes
        few = () if packets else (trap("less than one full packet fits"),)
        return Reading(self.line, self.queue, self.written, size, packets, rounding, (*notes, *few))

    def of_packets(
        self, packets: int, port: Port, notes: Iterable[Note] = (), rounding: int | None = None
    ) -> Reading:
        """Return a queue limited in packets, whatever their size; taken as full ones."""
        size = packets * port.packet_bytes
        off = port.packet_bytes - 1 if rounding is None else rounding
        return Reading(self.line, self.queue, self.written, size, packets, off, tuple(notes))

    def unknown(self, *notes: Note) -> Reading:
        """Return a queue whose size the text does not say."""
        return Reading(self.line, self.queue, self.written, None, None, 0, notes)
