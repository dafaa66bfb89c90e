"""Flow records of a table as IPFIX datagrams (RFC 7011), so that ``exports`` reads all records."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

_NANOSECONDS, _RAW_IP, _LARGEST = 0xA1B23C4D, 101, 65535
_UDP = 17


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


PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "GRE": 47, "ESP": 50, "ICMP6": 58, "SCTP": 132}
_OTHER = 255
# RFC 7012's elements: ports, protocol, packets, bytes, first and last time in milliseconds.
_COMMON = ((7, 2), (11, 2), (4, 1), (2, 8), (1, 8), (152, 8), (153, 8))
_ADDRESSES = {4: ((8, 4), (12, 4)), 6: ((27, 16), (28, 16))}
_TEMPLATE = {4: 256, 6: 257}
_PORT = 4739
_EXPORTER = ipaddress.IPv4Address("127.0.0.1")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class FlowRecord(NamedTuple):
    """One record; times in milliseconds since 1970."""

    source: Address
    destination: Address
    from_port: int
    to_port: int
    protocol: int
    packets: int
    bytes: int
    first_ms: int
    last_ms: int


def protocol_number(text: str) -> int:
    """Return the number of a protocol by its number or name; 255 for others."""
    return int(text) if text.isdigit() else PROTOCOLS.get(text.upper(), _OTHER)


def write(path: Path, records: Iterable[FlowRecord]) -> None:
    """Write records as a capture of IPFIX.

    Raises
    ------
    ValueError, struct.error
        Addresses of two families, or a number out of range.
    """
    with path.open("wb") as file:
        begin(file)
        _send(file, 0, _templates())
        for count, record in enumerate(records):
            _send(file, count, packed(record))


def packed(record: FlowRecord) -> bytes:
    """Return a record as a set of its template. Raises ValueError, struct.error."""
    if record.source.version != record.destination.version:
        raise ValueError(record)
    told = struct.pack(">HHBQQQQ", *record[2:])
    body = record.source.packed + record.destination.packed + told
    return _set(_TEMPLATE[record.source.version], body)


def _send(file: BinaryIO, number: int, body: bytes) -> None:
    head = struct.pack(">HHIII", 10, 16 + len(body), 0, number % 2**32, 0)
    append(file, 0, _EXPORTER, _PORT, head + body)


def _set(number: int, body: bytes) -> bytes:
    return struct.pack(">HH", number, 4 + len(body)) + body


def _templates() -> bytes:
    told = b""
    for version, addresses in _ADDRESSES.items():
        fields = (*addresses, *_COMMON)
        told += struct.pack(">HH", _TEMPLATE[version], len(fields))
        told += b"".join(struct.pack(">HH", *each) for each in fields)
    return _set(2, told)
