"""Bytes on the line of a packet: what an access line adds, in cells, in PTM or as Ethernet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Name = Literal["ethernet", "ptm", "atm"]


@dataclass(frozen=True, slots=True)
class Framing:
    """How a line frames a packet, with the fields of the simulator's framing.

    Attributes
    ----------
    overhead : bytes that are added to an IP packet, before cells or blocks.
    least : bytes that a packet with its overhead takes at least.
    payload, extra : bytes of a cell or block, and those that each begun one has besides.
    padded : whether the last one is filled up.
    """

    overhead: int
    least: int
    payload: int
    extra: int
    padded: bool

    def on_line(self, framed: int) -> int:
        """Return the bytes on the line of so many bytes, overhead included."""
        blocks = -(-framed // self.payload)
        return (blocks * self.payload if self.padded else framed) + blocks * self.extra

    def packet(self, size: int) -> int:
        """Return the bytes on the line of an IP packet."""
        return self.on_line(max(size + self.overhead, self.least))


FRAMINGS: dict[Name, Framing] = {
    # Preamble 8, addresses and type 14, checksum 4, gap 12; at least 84 (IEEE 802.3).
    "ethernet": Framing(38, 84, 1, 0, padded=False),
    # PPPoE 8, Ethernet 14 and its checksum 4, PTM 4 (tc-cake(8): pppoe-ptm); 64/65 encoding.
    "ptm": Framing(30, 0, 64, 1, padded=False),
    # PPPoE 8, Ethernet 14, LLC/SNAP 10, AAL5 8 (tc-cake(8): pppoe-llcsnap); cells of 53 with 48.
    "atm": Framing(40, 0, 48, 5, padded=True),
}
