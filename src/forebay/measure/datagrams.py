"""UDP datagrams as a capture of raw IP in libpcap's format, which the readers accept."""

from __future__ import annotations

import ipaddress
import struct
from typing import BinaryIO

_NANOSECONDS, _RAW_IP, _LARGEST = 0xA1B23C4D, 101, 65535
_UDP = 17
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def begin(file: BinaryIO) -> None:
    """Write the file header of a capture."""
    file.write(struct.pack("<IHHiIII", _NANOSECONDS, 2, 4, 0, 0, _LARGEST, _RAW_IP))


def append(file: BinaryIO, at_ns: int, source: Address, port: int, data: bytes) -> None:
    """Write one datagram from ``source`` to ``port``; its destination address is zero."""
    udp = struct.pack(">HHHH", port, port, 8 + len(data), 0) + data
    packet = _header(source, len(udp)) + udp
    length = len(packet)
    file.write(struct.pack("<IIII", at_ns // 10**9, at_ns % 10**9, length, length) + packet)


def _header(source: Address, length: int) -> bytes:
    if source.version == 4:
        fixed = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, _UDP, 0)
        return fixed + source.packed + bytes(4)
    return struct.pack(">IHBB", 6 << 28, length, _UDP, 64) + source.packed + bytes(16)
