"""A port, the buffer that is wanted there, and what a snippet says of one queue, with notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import ceil, floor
from typing import Any

from forebay.outcome import Aqm
from forebay.platforms.notes import Note, trap, uncertain
from forebay.platforms.snippet import short
from forebay.scenario import Framing, Rate

ETHERNET_HEADER = 14  # as in Linux: addresses and type, no preamble, no checksum
_MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Port:
    """A port: the parameters that convert between bytes, packets and time.

    Attributes
    ----------
    rate_bps : the rate at which the queue is served, bit/s: the shaper's, else the line rate.
    packet_bytes : size of a full packet as in scenarios (network-layer headers included).
    header_bytes : link-layer header, which some platforms add to each packet.
    pool_bytes : shared memory of the chip, if the platform allocates shares of it.
    line_bps : the line rate of a port that is shaped, bit/s; None if it is not shaped.
    framing : what the line adds to a packet; ``rate_bps`` is what it leaves for full packets.
    burst_bytes : the shaper's bucket; None if it has none, or there is no shaper.
    """

    rate_bps: float
    packet_bytes: int = 1500
    header_bytes: int = ETHERNET_HEADER
    pool_bytes: int | None = None
    line_bps: float | None = None
    burst_bytes: int | None = None
    framing: Framing | None = None

    @property
    def line(self) -> float:
        """The line rate, bit/s."""
        return self.rate_bps if self.line_bps is None else self.line_bps

    @property
    def frame_bytes(self) -> int:
        """Size of a full packet with its link-layer header."""
        return self.packet_bytes + self.header_bytes

    @property
    def is_shaped(self) -> bool:
        """Whether the queue is served at less than line rate."""
        return self.line_bps is not None

    def served_at(self, rate_bps: float) -> Port:
        """Return the same port with its queue served at another rate."""
        return replace(self, rate_bps=rate_bps, line_bps=self.line)

    def inside(self, served: Served | None) -> Port:
        """Return the port as a queue sees it: served at the queue's rate, if it has one."""
        known = None if served is None else served.rate_bps
        return self if known is None else self.served_at(known)

    def rate_in(self, step: int = 1) -> int:
        """Rate of the queue in whole steps of so many bit/s, rounded up."""
        return -(-ceil(self.rate_bps) // step)

    @property
    def framed_rate(self) -> float:
        """Rate of the line for the queue, bit/s: with what framing adds to full packets."""
        if self.framing is None:
            return self.rate_bps
        return self.rate_bps * self.framing.packet(self.packet_bytes) / self.packet_bytes

    def seconds(self, size: float) -> float:
        """Time in s to send ``size`` bytes at the rate of the queue."""
        return 8 * size / self.rate_bps

    def microseconds(self, size: int) -> int:
        """Time to send ``size`` bytes in whole microseconds, rounded up exactly."""
        return ceil(Fraction(8_000_000 * size) / Fraction(self.rate_bps))

    @property
    def microsecond_bytes(self) -> int:
        """Largest error of a size that is written in whole microseconds, bytes."""
        return ceil(self.rate_bps / 8_000_000) + 1

    def bytes_in(self, seconds: Fraction | int) -> int:
        """Whole bytes that are sent in an exact time in s, rounded down."""
        return floor(Fraction(self.rate_bps) * seconds / 8)

    def burst_unwritten(self, why: str) -> tuple[Note, ...]:
        """Return the note for a shaper's bucket that the lines do not have, if there is one."""
        said = f"the shaper's burst of {self.burst_bytes} B is not written: {why}"
        return (trap(said),) if self.burst_bytes else ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The buffer that is wanted.

    ``bytes`` is its size in bytes, ``packets`` in whole packets. ``written`` is the user's text
    and ``source`` its file, or ``""`` for the command line. ``aqm`` is an AQM queue, as a sizing
    found it or as a scenario has it; bytes and packets are then those of its limit. ``why`` says
    why a sizing recommended the size, or why it recommended none. ``unwritten`` names what the
    scenario sets of its queue and no lines have.
    """

    bytes: int
    packets: int
    written: str
    source: str = ""
    aqm: Aqm | None = None
    why: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()

    @property
    def discipline(self) -> str:
        """The queue discipline that is wanted, with a scenario's name."""
        return "drop-tail" if self.aqm is None else self.aqm.discipline

    @property
    def step(self) -> int | None:
        """The bytes K from which on a step of ECN marks is wanted; None without thresholds."""
        aqm = self.aqm
        return aqm.min_bytes if aqm is not None and aqm.parameter == "min" else None

    def times(self, per_s: float) -> dict[str, float]:
        """Return target and interval of an AQM in other units than seconds; {} of thresholds."""
        if self.aqm is None or self.aqm.parameter == "min":
            return {}
        ends = {"target": self.aqm.target_s, "interval": self.aqm.interval_s}
        return {key: per_s * value for key, value in ends.items() if value is not None}

    def whole_packets(self, port: Port) -> int:
        """Smallest number of the port's packets that contains the bytes."""
        return -(-self.bytes // port.packet_bytes)


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

    def with_notes(self, *notes: Note, also: Iterable[int | str] = ()) -> ConfiguredQueue:
        """Return the reading with more notes, and what was read for it."""
        return replace(self, notes=(*self.notes, *notes), also=self.also | frozenset(also))

    def serving(
        self, served: Served | None, *notes: Note, also: Iterable[int | str] = ()
    ) -> ConfiguredQueue:
        """Return the reading with its rate, unless it has one, and what was read for it."""
        untold = self.served is None and served is not None and served.rate_bps is None
        said = (trap(f"its time is not known: {served.by}"),) if untold and served else ()
        return replace(self.with_notes(*said, *notes, also=also), served=self.served or served)

    def counted_at(self, rate: Served | None) -> ConfiguredQueue:
        """Return a reading whose bytes are a time at a rate: unknown where the rate is."""
        if rate is None or rate.rate_bps is not None:
            return self
        said = trap(f"a time, and its bytes are not known: {rate.by}")
        return replace(self, bytes=None, packets=None).with_notes(said)


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
        shown = short(written, 40)
        return cls(None, f'"{shown}" is not understood: the queue may drain more slowly')


def lowest(rates: Iterable[Served | None]) -> Served | None:
    """Return the lowest of several rates, one that is not told before all; None without any."""
    known = (rate for rate in rates if rate is not None)
    return min(known, key=lambda rate: rate.rate_bps or 0.0, default=None)


def at_rates(rates: Mapping[Served | None, Collection[str]]) -> Iterator[tuple[Served | None, str]]:
    """Yield each rate at which one statement is used, and where, if there are several.

    A policy under two parents is two queues: each has a time of its own.
    """
    if len(rates) < 2:
        yield from ((served, "") for served in rates or (None,))
        return
    for served, places in rates.items():
        first = [short(place, 40) for place in islice(places, _MOST_PLACES)]
        yield served, f" (in {', '.join(first)}{', …' if len(places) > _MOST_PLACES else ''})"


@dataclass(frozen=True, slots=True)
class Unread:
    """A statement about buffers that was not understood."""

    line: int
    written: str


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a size in a text about a port; makes the `ConfiguredQueue` from its meaning."""

    line: int
    queue: str
    written: str
    port: Port

    @classmethod
    def of(cls, line: int, queue: str, written: str, port: Port, where: str = "") -> Place:
        """Return a position with names as they may be shown; ``where`` comes behind its name."""
        return cls(line, short(queue) + where, short(written), port)

    def of_bytes(self, size: int, *notes: Note, rounding: int = 0) -> ConfiguredQueue:
        """Return a queue limited in bytes of packets."""
        packets = size // self.port.packet_bytes
        few = () if packets else (trap("less than one full packet fits"),)
        return self._queue(size, packets, rounding, *notes, *few)

    def of_packets(
        self, packets: int, *notes: Note, rounding: int | None = None
    ) -> ConfiguredQueue:
        """Return a queue limited in packets of any size, counted as full ones."""
        full = self.port.packet_bytes
        return self._queue(
            packets * full, packets, full - 1 if rounding is None else rounding, *notes
        )

    def of_time(
        self, seconds: Fraction, rate: Served | None, *notes: Note, rounding: int = 0
    ) -> ConfiguredQueue:
        """Return a queue limited in time at a rate; None is the port's."""
        size = self.port.inside(rate).bytes_in(seconds)
        return self.of_bytes(size, *notes, rounding=rounding).counted_at(rate)

    def unknown(self, *notes: Note) -> ConfiguredQueue:
        """Return a queue whose size the text does not determine."""
        return self._queue(None, None, 0, *notes)

    def unclear(self, what: str, *notes: Note) -> ConfiguredQueue:
        """Return a queue whose statement of size is not understood."""
        return self.unknown(*notes, uncertain(f"this form of {what} is not understood"))

    def _queue(
        self, size: int | None, packets: int | None, rounding: int, *notes: Note
    ) -> ConfiguredQueue:
        return ConfiguredQueue(self.line, self.queue, self.written, size, packets, rounding, notes)


def amounts(size: int | None, packets: int | None, port: Port) -> dict[str, Any]:
    """Return bytes, seconds at the rate of the queue and whole packets; None if unknown."""
    seconds = None if size is None else port.seconds(size)
    return {"bytes": size, "seconds": seconds, "packets": packets}


def say(size: int | None, packets: int | None, port: Port) -> str:
    """Return "193500 B = 9.987 ms at 155 Mbit/s = 129 packets of 1500 B"."""
    if size is None:
        return "a size that the text alone does not say"
    time = f"{say_time(port.seconds(size))} at {Rate(port.rate_bps)}"
    return f"{size} B = {time} {_say_packets(packets, port)}"


def _say_packets(packets: int | None, port: Port) -> str:
    many = "packet" if packets == 1 else "packets"
    return f"= {packets} {many} of {port.packet_bytes} B"


def say_step(k: int, port: Port) -> str:
    """Return "a step K of 30000 B = 9.6 us at 25 Gbit/s = 20 packets of 1500 B"."""
    return f"a step K of {say(k, k // port.packet_bytes, port)}"


def say_reading(reading: ConfiguredQueue, port: Port) -> str:
    """Return the size of a queue, with its time at the rate that the text gives it first."""
    served, size, seconds = reading.served, reading.bytes, reading.seconds(port)
    if served is None or size is None:
        return say(size, reading.packets, port)
    packets = _say_packets(reading.packets, port)
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
