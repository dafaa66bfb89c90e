"""Converts nfdump's CSV to IPFIX datagrams (RFC 7011), so that ``exports`` reads all records.

Both forms are accepted, by the names of their columns: ``ts, te, sa, …`` of nfdump 1.6 and
``firstSeen, duration, srcAddr, …`` of 1.7. Its times have no zone. They are read as UTC, because
only their differences matter.
"""

from __future__ import annotations

import csv
import ipaddress
import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TextIO

from forebay.measure import datagrams
from forebay.measure.errors import MeasureError

_NAMES = {
    "first": ("ts", "firstSeen"), "last": ("te", "lastSeen"), "duration": ("td", "duration"),
    "source": ("sa", "srcAddr"), "destination": ("da", "dstAddr"), "from": ("sp", "srcPort"),
    "to": ("dp", "dstPort"), "protocol": ("pr", "proto"), "packets": ("ipkt", "packets"),
    "bytes": ("ibyt", "bytes"),
}  # fmt: skip
_EITHER = ("last", "duration")
_WRITE = "write it by `nfdump -o csv -N`"
_PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "GRE": 47, "ESP": 50, "ICMP6": 58, "SCTP": 132}
_OTHER = 255
# RFC 7012's elements: ports, protocol, packets, bytes, first and last time in milliseconds.
_COMMON = ((7, 2), (11, 2), (4, 1), (2, 8), (1, 8), (152, 8), (153, 8))
_ADDRESSES = {4: ((8, 4), (12, 4)), 6: ((27, 16), (28, 16))}
_TEMPLATE = {4: 256, 6: 257}
_PORT = 4739
_EXPORTER = ipaddress.IPv4Address("127.0.0.1")


def is_csv(path: str) -> bool:
    """Return whether a file has a table's name."""
    return path.lower().endswith(".csv")


def to_capture(source: str, path: Path) -> None:
    """Write the records of nfdump's CSV ``source`` as a capture of IPFIX at ``path``.

    Raises
    ------
    MeasureError
        A line cannot be read; the error has its number.
    """
    try:
        with Path(source).open(encoding="utf-8-sig", newline="") as table, path.open("wb") as file:
            datagrams.begin(file)
            _send(file, 0, _templates())
            for count, (version, row) in enumerate(_rows(source, csv.reader(_lines(table)))):
                _send(file, count, _set(_TEMPLATE[version], row))
    except OSError as error:
        raise MeasureError(f"{source}: cannot be read ({error.strerror}); {_WRITE}") from None
    except (UnicodeDecodeError, csv.Error):
        raise MeasureError(f"{source}: is not a table in UTF-8; {_WRITE}") from None


def _lines(table: TextIO) -> Iterator[str]:
    """Yield lines, of limited length because a device file may have none."""
    while line := table.readline(csv.field_size_limit() + 1):
        yield line


def _send(file: BinaryIO, number: int, body: bytes) -> None:
    head = struct.pack(">HHIII", 10, 16 + len(body), 0, number % 2**32, 0)
    datagrams.append(file, 0, _EXPORTER, _PORT, head + body)


def _set(number: int, body: bytes) -> bytes:
    return struct.pack(">HH", number, 4 + len(body)) + body


def _templates() -> bytes:
    told = b""
    for version, addresses in _ADDRESSES.items():
        fields = (*addresses, *_COMMON)
        told += struct.pack(">HH", _TEMPLATE[version], len(fields))
        told += b"".join(struct.pack(">HH", *each) for each in fields)
    return _set(2, told)


def _rows(source: str, rows: Iterator[list[str]]) -> Iterator[tuple[int, bytes]]:
    columns = _columns(source, next(rows, []))
    for line, row in enumerate(rows, 2):
        if row and row[0].strip() in ("Summary", "No matching flows"):
            return
        if not row or len(row) == 1:
            continue
        try:
            yield _record({name: row[at].strip() for name, at in columns.items()})
        except (ValueError, IndexError, OverflowError, struct.error):
            bad = ",".join(row)[:60]
            raise MeasureError(f"{source}: line {line}: {bad!r} is not a flow; {_WRITE}") from None


def _columns(source: str, header: list[str]) -> dict[str, int]:
    names = [name.strip() for name in header]
    found = {
        name: names.index(one) for name, known in _NAMES.items() for one in known if one in names
    }
    missing = [name for name in _NAMES if name not in found and name not in _EITHER]
    if not any(name in found for name in _EITHER):
        missing.append("last")
    if missing:
        known = " or ".join(_NAMES[missing[0]])
        raise MeasureError(f"{source}: has no column {known}; {_WRITE}")
    return found


def _record(row: dict[str, str]) -> tuple[int, bytes]:
    source, destination = (ipaddress.ip_address(row[name]) for name in ("source", "destination"))
    if source.version != destination.version:
        raise ValueError(row)
    first = _milliseconds(row["first"])
    if "last" in row:
        last = _milliseconds(row["last"])
    else:
        last = first + math.floor(float(row["duration"]) * 1000 + 0.5)
    told = struct.pack(
        ">HHBQQQQ", _port(row["from"]), _port(row["to"]), _protocol(row["protocol"]),
        int(row["packets"]), int(row["bytes"]), first, last,
    )  # fmt: skip
    return source.version, source.packed + destination.packed + told


def _port(text: str) -> int:
    """Return a port; ICMP's column has type.code, which is not a port."""
    return 0 if "." in text else int(text)


def _protocol(text: str) -> int:
    return int(text) if text.isdigit() else _PROTOCOLS.get(text.upper(), _OTHER)


def _milliseconds(text: str) -> int:
    at = datetime.fromisoformat(text)
    return math.floor(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000 + 0.5)
