"""Converts nfdump's CSV to IPFIX datagrams (RFC 7011), so that ``exports`` reads all records.

All forms are accepted, by the names of their columns: ``ts, te, sa, …`` of nfdump 1.6,
``firstSeen, duration, srcAddr, …`` of 1.7, and csv-fast, whose times are milliseconds since 1970
and whose addresses may be numbers. Other times have no zone. They are read as UTC, because only
their differences matter.
"""

from __future__ import annotations

import csv
import ipaddress
import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from forebay.measure.errors import MeasureError
from forebay.measure.flow_records import FlowRecord, packed, protocol_number, write

_NAMES = {
    "first": ("ts", "firstSeen"), "last": ("te", "lastSeen"), "duration": ("td", "duration"),
    "source": ("sa", "srcAddr"), "destination": ("da", "dstAddr"), "from": ("sp", "srcPort"),
    "to": ("dp", "dstPort"), "protocol": ("pr", "proto"), "packets": ("ipkt", "packets"),
    "bytes": ("ibyt", "bytes"),
}  # fmt: skip
_EITHER = ("last", "duration")
_WRITE = "write it by `nfdump -o csv -N`, or csv-fast"


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
        with Path(source).open(encoding="utf-8-sig", newline="") as table:
            write(path, _rows(source, csv.reader(_lines(table))))
    except OSError as error:
        raise MeasureError(f"{source}: cannot be read ({error.strerror}); {_WRITE}") from None
    except (UnicodeDecodeError, csv.Error):
        raise MeasureError(f"{source}: is not a table in UTF-8; {_WRITE}") from None


def _lines(table: TextIO) -> Iterator[str]:
    """Yield lines, of limited length because a device file may have none."""
    while line := table.readline(csv.field_size_limit() + 1):
        if not line.startswith("#"):
            yield line


def _rows(source: str, rows: Iterator[list[str]]) -> Iterator[FlowRecord]:
    columns = _columns(source, next(rows, []))
    for line, row in enumerate(rows, 2):
        if row and row[0].strip() in ("Summary", "No matching flows"):
            return
        if not row or len(row) == 1:
            continue
        try:
            record = _record({name: row[at].strip() for name, at in columns.items()})
            packed(record)  # what does not fit is said with its line
        except (ValueError, IndexError, OverflowError, struct.error):
            bad = ",".join(row)[:60]
            raise MeasureError(f"{source}: line {line}: {bad!r} is not a flow; {_WRITE}") from None
        yield record


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


def _record(row: dict[str, str]) -> FlowRecord:
    first = _milliseconds(row["first"])
    if "last" in row:
        last = _milliseconds(row["last"])
    else:
        last = first + math.floor(float(row["duration"]) * 1000 + 0.5)
        if last < first:
            raise ValueError("a negative duration")
    return FlowRecord(
        _address(row["source"]), _address(row["destination"]),
        _port(row["from"]), _port(row["to"]), protocol_number(row["protocol"]),
        int(row["packets"]), int(row["bytes"]), first, last,
    )  # fmt: skip


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address, which csv-fast may write as a number."""
    return ipaddress.ip_address(int(text) if text.isascii() and text.isdigit() else text)


def _port(text: str) -> int:
    """Return a port; ICMP's column has type.code, which is not a port."""
    return 0 if "." in text else int(text)


def _milliseconds(text: str) -> int:
    if text.isascii() and text.isdigit():  # csv-fast: since 1970
        return int(text)
    at = datetime.fromisoformat(text)
    return math.floor(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000 + 0.5)
