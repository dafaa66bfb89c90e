"""Bytes on the line of a packet: what an access line adds, in cells, in PTM or as Ethernet."""

from __future__ import annotations

from typing import Literal

Framing = Literal["ethernet", "ptm", "atm"]

OVERHEADS: dict[Framing, int] = {"ethernet": 38, "ptm": 22, "atm": 32}
"""Bytes that a line usually adds to an IP packet before cells.

ethernet: preamble 8, addresses and type 14, checksum 4, gap 12. ptm: addresses and type 14,
checksum 4 and 2, S and C 2 (IEEE 802.3 clause 61). atm: PPPoE over LLC/SNAP, 8 + 14 + 10, and the
trailer of AAL5 8, without checksum.
"""

_CELL, _PAYLOAD = 53, 48


def on_line(size: int, framing: Framing) -> int:
    """Return the bytes that ``size`` bytes, overhead included, take on the line.

    atm: whole cells of 53 bytes with 48 of payload (ITU-T I.361). ptm: 65 for each begun 64 (64/65
    encoding, IEEE 802.3 clause 61). ethernet: as they are.
    """
    if framing == "atm":
        return -(-size // _PAYLOAD) * _CELL
    return size + -(-size // 64) if framing == "ptm" else size
