"""The port of a buffer, and the wanted buffer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.outcome import Aqm
    from forebay.scenario import Framing

ETHERNET_HEADER = 14  # as in Linux: addresses and type, no preamble, no checksum


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
        return -(-int(self.rate_bps) // 8_000_000) + 1

    def bytes_in(self, seconds: Fraction | int) -> int:
        """Whole bytes that are sent in an exact time in s, rounded down."""
        return floor(Fraction(self.rate_bps) * seconds / 8)


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

    def whole_packets(self, port: Port) -> int:
        """Smallest number of the port's packets that contains the bytes."""
        return -(-self.bytes // port.packet_bytes)
