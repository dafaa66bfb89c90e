"""The size of one queue in a snippet, and notes about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.scenario import Rate

NoteKind = Literal["note", "trap", "uncertain"]

_MOST_PLACES = 3


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


GUARD = note("the limit is a guard: what the discipline aims at decides the queue")


def burst_unwritten(size: int, why: str) -> Note:
    """Return the note for a shaper's bucket that the lines do not have."""
    return trap(f"the shaper's burst of {size} B is not written: {why}")


def pool_unknown() -> Note:
    """Return the note for a size that is a share of an unknown pool."""
    return trap("the pool's size is not here: write --pool, in Python pool_bytes")


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
    also : the other lines of the text, or keys of JSON, that were read for it.
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
    also: frozenset[int | str] = frozenset()
    marks_bytes: int | None = None
    discipline: str | None = None
    aims: tuple[float, ...] = ()

    def seconds(self, port: Port) -> float | None:
        """Time in s in which the full queue drains; None if its size or its rate is unknown."""
        if self.bytes is None:
            return None
        if self.served is None:
            return port.seconds(self.bytes)
        if self.served.rate_bps is None:
            return None
        return self.served.drain_s or 8 * self.bytes / self.served.rate_bps

    def serving(
        self, served: Served | None, *notes: Note, also: Iterable[int | str] = ()
    ) -> ConfiguredQueue:
        """Return the reading with its rate, unless it has one, and what was read for it."""
        untold = self.served is None and served is not None and served.rate_bps is None
        said = (trap(f"its time is not known: {served.by}"),) if untold and served else ()
        return replace(
            self,
            served=self.served or served,
            notes=(*self.notes, *said, *notes),
            also=self.also | frozenset(also),
        )

    def counted_at(self, rate: Served | None) -> ConfiguredQueue:
        """Return a reading whose bytes are a time at a rate: unknown where the rate is."""
        if rate is None or rate.rate_bps is not None:
            return self
        said = trap(f"a time, and its bytes are not known: {rate.by}")
        return replace(self, bytes=None, packets=None).serving(None, said)


@dataclass(frozen=True, slots=True)
class Served:
    """The rate in bit/s at which the text lets a queue drain, and what says so.

    ``rate_bps`` is None where the text has a rate that decides and does not tell it; ``by`` then
    says why. ``drain_s`` is the time of a full queue where it is not its bytes at that rate.
    """

    rate_bps: float | None
    by: str
    drain_s: float | None = None

    @classmethod
    def untold(cls, written: str) -> Served:
        """Return the rate of a statement that is not understood."""
        return cls(
            None, f'"{short(written, 40)}" is not understood: the queue may drain more slowly'
        )


def lowest(rates: Iterable[Served | None]) -> Served | None:
    """Return the lowest of several rates, one that is not told before all; None without any."""
    known = (rate for rate in rates if rate is not None)
    return min(known, key=lambda rate: rate.rate_bps or 0.0, default=None)


def inside(port: Port, served: Served | None) -> Port:
    """Return the port as a queue sees it: served at the queue's rate, if it has one."""
    return port if served is None or served.rate_bps is None else port.served_at(served.rate_bps)


def at_rates(rates: Mapping[Served | None, Collection[str]]) -> Iterator[tuple[Served | None, str]]:
    """Yield each rate at which one statement is used, and where, if there are several.

    A policy under two parents is two queues: each has a time of its own.
    """
    if len(rates) < 2:
        yield from ((served, "") for served in rates)
        return
    for served, places in rates.items():
        first = [short(each, 40) for each in islice(places, _MOST_PLACES)]
        yield served, f" (in {', '.join(first)}{', …' if len(places) > _MOST_PLACES else ''})"


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


def amounts(size: int | None, packets: int | None, port: Port) -> dict[str, Any]:
    """Return bytes, seconds at the rate of the queue and whole packets; None if unknown."""
    seconds = None if size is None else port.seconds(size)
    return {"bytes": size, "seconds": seconds, "packets": packets}


def say(size: int | None, packets: int | None, port: Port) -> str:
    """Return "193500 B = 9.987 ms at 155 Mbit/s = 129 packets of 1500 B"."""
    if size is None:
        return "a size that the text alone does not say"
    time = f"{say_time(port.seconds(size))} at {Rate(port.rate_bps)}"
    many = "packet" if packets == 1 else "packets"
    return f"{size} B = {time} = {packets} {many} of {port.packet_bytes} B"


def say_step(k: int, port: Port) -> str:
    """Return "a step K of 30000 B = 9.6 us at 25 Gbit/s = 20 packets of 1500 B"."""
    return f"a step K of {say(k, k // port.packet_bytes, port)}"


def say_reading(reading: ConfiguredQueue, port: Port) -> str:
    """Return the size of a queue, with its time at the rate that the text gives it first."""
    served, size, seconds = reading.served, reading.bytes, reading.seconds(port)
    if served is None or size is None:
        return say(size, reading.packets, port)
    many = "packet" if reading.packets == 1 else "packets"
    packets = f"= {reading.packets} {many} of {port.packet_bytes} B"
    if served.rate_bps is None or seconds is None:
        return f"{size} B {packets}, in a time that is not known"
    own = f"{size} B = {say_time(seconds)} at {Rate(served.rate_bps)} ({served.by})"
    line = f"{say_time(8 * size / port.line)} at the port's {Rate(port.line)}"
    return f"{own}, {line} {packets}"


def say_time(seconds: float) -> str:
    """Return a time to four digits, in s, ms or us."""
    if seconds >= 1e4:
        return f"{seconds:.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} us"
