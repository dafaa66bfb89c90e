"""The port that a buffer stands in front of, and the buffer that is wanted there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.outcome import Aqm

ETHERNET_HEADER = 14  # what Linux counts: addresses and type, no preamble, no checksum


@dataclass(frozen=True, slots=True)
class Port:
    """A port: everything that turns bytes, packets and time into each other.

    Attributes
    ----------
    rate_bps : line rate, bit/s.
    packet_bytes : a full packet, as scenarios count it (network-layer headers included).
    header_bytes : link-layer header that some platforms count on top of each packet.
    pool_bytes : shared memory of the chip, where a platform hands out shares of it.
    """

    rate_bps: float
    packet_bytes: int = 1500
    header_bytes: int = ETHERNET_HEADER
    pool_bytes: int | None = None

    def seconds(self, size: float) -> float:
        """Time in s to send ``size`` bytes at line rate."""
        return 8 * size / self.rate_bps

    def microseconds(self, size: int) -> int:
        """Fewest whole microseconds in which ``size`` bytes are sent; exact, never too few."""
        return ceil(Fraction(8_000_000 * size) / Fraction(self.rate_bps))

    def bytes_in(self, seconds: Fraction | int) -> int:
        """Whole bytes that are sent in an exact time in s, rounded down."""
        return floor(Fraction(self.rate_bps) * seconds / 8)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The buffer that is wanted.

    ``bytes`` of full packets, ``packets`` whole ones; ``written`` as the person wrote it
    and ``source`` where (a file, or ``""`` for the command line). ``aqm`` is what a sizing says
    of a queue that manages itself: bytes and packets are then of its limit.
    """

    bytes: int
    packets: int
    written: str
    source: str = ""
    aqm: Aqm | None = None

    def whole_packets(self, port: Port) -> int:
        """Fewest packets of the port that hold the bytes: counting packets never gives less."""
        return -(-self.bytes // port.packet_bytes)
