"""Flow records of a table as IPFIX datagrams (RFC 7011), so that ``exports`` reads all records.

Tables are nfdump's CSV and goflow2's JSON. What does not fit into a datagram is said with its line.
"""

from __future__ import annotations

import csv
import ipaddress
import json
import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from forebay.measure.estimate import MeasureError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NANOSECONDS, _RAW_IP, _LARGEST = 0xA1B23C4D, 101, 65535
_UDP = 17


def begin(file: BinaryIO) -> None:
    """Write the file header of a capture."""
    file.write(struct.pack("<IHHiIII", _NANOSECONDS, 2, 4, 0, 0, _LARGEST, _RAW_IP))


def append(file: BinaryIO, at_ns: int, source: Address, port: int, data: bytes) -> None:
    """Write one datagram from ``source`` to ``port``; its destination address is zero."""
    udp = struct.pack(">HHHH", port, port, 8 + len(data), 0) + data
    if source.version == 4:
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, _UDP, 0)
    else:
        header = struct.pack(">IHBB", 6 << 28, len(udp), _UDP, 64)
    packet = header + source.packed + bytes(len(source.packed)) + udp
    length = len(packet)
    file.write(struct.pack("<IIII", at_ns // 10**9, at_ns % 10**9, length, length) + packet)


PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "GRE": 47, "ESP": 50, "ICMP6": 58, "SCTP": 132}
_OTHER = 255
# RFC 7012's elements: ports, protocol, packets, bytes, first and last time in milliseconds.
_COMMON = ((7, 2), (11, 2), (4, 1), (2, 8), (1, 8), (152, 8), (153, 8))
_ADDRESSES = {4: ((8, 4), (12, 4)), 6: ((27, 16), (28, 16))}
_TEMPLATE = {4: 256, 6: 257}
_PORT = 4739
_EXPORTER = ipaddress.IPv4Address("127.0.0.1")


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


def _packed(record: FlowRecord) -> bytes:
    """Return a record as a set of its template. Raises ValueError, struct.error."""
    if record.source.version != record.destination.version:
        raise ValueError(record)
    addresses = record.source.packed + record.destination.packed
    body = addresses + struct.pack(">HHBQQQQ", *record[2:])
    return _set(_TEMPLATE[record.source.version], body)


def to_capture(source: str, path: Path) -> bool:
    """Write a table of records as a capture of IPFIX at ``path``, if ``source`` has its name.

    Raises MeasureError with its number if a line cannot be read, or its record is of sampled
    packets.
    """
    if source.lower().endswith(CSV):
        records, write = _of_nfdump(source), _WRITE_CSV
    elif source.lower().endswith(_JSON):
        records, write = _of_goflow(source), _WRITE_JSON
    else:
        return False
    try:
        with path.open("wb") as file:
            begin(file)
            _send(file, 0, _templates())
            for number, record in enumerate(records):
                _send(file, number, record)
    except OSError as error:
        raise MeasureError(f"{source}: cannot be read ({error.strerror}); {write}") from None
    except (UnicodeDecodeError, csv.Error):
        raise MeasureError(f"{source}: is not a table in UTF-8; {write}") from None
    return True


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


def _protocol(text: str) -> int:
    return int(text) if text.isdigit() else PROTOCOLS.get(text.upper(), _OTHER)


CSV = ".csv"
_WRITE_CSV = "write it by `nfdump -o csv -N`, or csv-fast"
_NAMES = {
    "first": ("ts", "firstSeen"), "last": ("te", "lastSeen"), "duration": ("td", "duration"),
    "source": ("sa", "srcAddr"), "destination": ("da", "dstAddr"), "from": ("sp", "srcPort"),
    "to": ("dp", "dstPort"), "protocol": ("pr", "proto"), "packets": ("ipkt", "packets"),
    "bytes": ("ibyt", "bytes"),
}  # fmt: skip
_EITHER = ("last", "duration")


def _lines(table: TextIO) -> Iterator[str]:
    """Yield lines, of limited length because a device file may have none."""
    while line := table.readline(csv.field_size_limit() + 1):
        if not line.startswith("#"):
            yield line


def _of_nfdump(source: str) -> Iterator[bytes]:
    """Yield the records of nfdump's CSV.

    All forms are accepted, by the names of their columns: ``ts, te, sa, …`` of nfdump 1.6,
    ``firstSeen, duration, srcAddr, …`` of 1.7, and csv-fast, whose times are milliseconds since
    1970 and whose addresses may be numbers. Other times have no zone. They are read as UTC, because
    only their differences matter.
    """
    with Path(source).open(encoding="utf-8-sig", newline="") as table:
        rows = csv.reader(_lines(table))
        columns = _columns(source, next(rows, []))
        for line, row in enumerate(rows, 2):
            if row and row[0].strip() in ("Summary", "No matching flows"):
                return
            if len(row) < 2:
                continue
            try:
                yield _packed(_of_row({name: row[at].strip() for name, at in columns.items()}))
            except (ValueError, IndexError, OverflowError, struct.error):
                wrong = f"line {line}: {','.join(row)[:60]!r} is not a flow"
                raise MeasureError(f"{source}: {wrong}; {_WRITE_CSV}") from None


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
        raise MeasureError(f"{source}: has no column {known}; {_WRITE_CSV}")
    return found


def _of_row(row: dict[str, str]) -> FlowRecord:
    first = _milliseconds(row["first"])
    if "last" in row:
        last = _milliseconds(row["last"])
    else:
        last = first + math.floor(float(row["duration"]) * 1000 + 0.5)
        if last < first:
            raise ValueError("a negative duration")
    return FlowRecord(
        _address(row["source"]), _address(row["destination"]),
        _port(row["from"]), _port(row["to"]), _protocol(row["protocol"]),
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


_JSON = (".json", ".jsonl", ".ndjson")
_WRITE_JSON = "write it by goflow2 -format json"
_LONGEST = 1 << 20  # bytes of a line
_BAD_ROW = (
    ValueError, KeyError, TypeError, OverflowError, StopIteration, struct.error, RecursionError,
)  # fmt: skip
# The keys of version 2 and version 1, and of their times the factor to milliseconds.
_KEYS = {
    "source": ("src_addr", "SrcAddr"), "destination": ("dst_addr", "DstAddr"),
    "from": ("src_port", "SrcPort"), "to": ("dst_port", "DstPort"), "protocol": ("proto", "Proto"),
    "packets": ("packets", "Packets"), "bytes": ("bytes", "Bytes"),
}  # fmt: skip
_FIRST = {"time_flow_start_ns": 1e-6, "TimeFlowStartMs": 1.0, "TimeFlowStart": 1e3}
_LAST = {"time_flow_end_ns": 1e-6, "TimeFlowEndMs": 1.0, "TimeFlowEnd": 1e3}
_SAMPLING = ("sampling_rate", "SamplingRate")


def _of_goflow(source: str) -> Iterator[bytes]:
    """Yield the records of goflow2's JSON, a record a line: of version 2, and of version 1."""
    with Path(source).open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            if not line.strip():
                continue
            try:
                yield _packed(_of_json(source, dict(json.loads(line))))
            except MeasureError:
                raise
            except _BAD_ROW:
                shown = line[:60].decode("utf-8", "replace").strip()
                wrong = f"{source}: line {number}: {shown!r} is not a flow"
                raise MeasureError(f"{wrong}; {_WRITE_JSON}") from None


def _of_json(source: str, row: dict[str, Any]) -> FlowRecord:
    sampled = next((int(row[key]) for key in _SAMPLING if row.get(key)), 0)
    if sampled > 1:
        wrong = f"{source}: one packet of {sampled} was sampled, which a record's sums do not show"
        raise MeasureError(f"{wrong}; capture the router's own datagrams")
    row = {"src_port": row.get("SrcPort", 0), "dst_port": row.get("DstPort", 0)} | row
    value = {name: row[next(key for key in keys if key in row)] for name, keys in _KEYS.items()}
    return FlowRecord(
        ipaddress.ip_address(value["source"]), ipaddress.ip_address(value["destination"]),
        int(value["from"]), int(value["to"]), _protocol(str(value["protocol"])),
        int(value["packets"]), int(value["bytes"]), _time(row, _FIRST), _time(row, _LAST),
    )  # fmt: skip


def _time(row: dict[str, Any], keys: dict[str, float]) -> int:
    """Return milliseconds since 1970; a key that is 0 is not set."""
    return next(int(int(row[key]) * factor) for key, factor in keys.items() if row.get(key))
