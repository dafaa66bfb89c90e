"""Flow records as a capture of datagrams, which ``exports`` reads: of a table, or of a socket.

Tables are nfdump's CSV and goflow2's JSON, whose rows become IPFIX (RFC 7011). What does not fit
into a datagram is said with its line.
"""

import csv
import ipaddress
import json
import math
import socket
import struct
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from forebay.measure.estimate import MeasureError
from forebay.progress import Progress
from forebay.words import Fact, argument

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NANOSECONDS, _RAW_IP, _LARGEST = 0xA1B23C4D, 101, 65535
_UDP = 17


def _begin(file: BinaryIO) -> None:
    """Write the file header of a capture."""
    file.write(struct.pack("<IHHiIII", _NANOSECONDS, 2, 4, 0, 0, _LARGEST, _RAW_IP))


def _append(file: BinaryIO, at_ns: int, source: Address, port: int, data: bytes) -> None:
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
            _begin(file)
            _send(file, 0, _templates())
            for number, record in enumerate(records):
                _send(file, number, record)
    except OSError as error:
        why = error.strerror
        raise MeasureError("measure.unreadable", hint=write, file=source, why=why) from None
    except (UnicodeDecodeError, csv.Error):
        raise MeasureError("measure.no-table", hint=write, file=source) from None
    return True


def _send(file: BinaryIO, number: int, body: bytes) -> None:
    head = struct.pack(">HHIII", 10, 16 + len(body), 0, number % 2**32, 0)
    _append(file, 0, _EXPORTER, _PORT, head + body)


def _set(number: int, body: bytes) -> bytes:
    return struct.pack(">HH", number, 4 + len(body)) + body


def _templates() -> bytes:
    told = b""
    for version, addresses in _ADDRESSES.items():
        fields = (*addresses, *_COMMON)
        told += struct.pack(">HH", _TEMPLATE[version], len(fields))
        told += b"".join(struct.pack(">HH", *field) for field in fields)
    return _set(2, told)


def _protocol(text: str) -> int:
    return int(text) if text.isdigit() else PROTOCOLS.get(text.upper(), _OTHER)


CSV = ".csv"
_WRITE_CSV = Fact("write.nfdump")
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
                raise _no_flow(source, line, ",".join(row), _WRITE_CSV) from None


def _no_flow(source: str, line: int, text: str, write: Fact) -> MeasureError:
    return MeasureError("measure.no-flow", hint=write, file=source, value=text, line=line)


def _columns(source: str, header: list[str]) -> dict[str, int]:
    names = [name.strip() for name in header]
    places = {
        name: names.index(one) for name, known in _NAMES.items() for one in known if one in names
    }
    missing = [name for name in _NAMES if name not in places and name not in _EITHER]
    if not any(name in places for name in _EITHER):
        missing.append("last")
    if missing:
        known = " or ".join(_NAMES[missing[0]])
        raise MeasureError("measure.no-column", hint=_WRITE_CSV, file=source, name=known)
    return places


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


def _address(text: str) -> Address:
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
_WRITE_JSON = Fact("write.goflow")
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
                shown = line.decode("utf-8", "replace").strip()
                raise _no_flow(source, number, shown, _WRITE_JSON) from None


def _of_json(source: str, row: dict[str, Any]) -> FlowRecord:
    sampled = next((int(row[key]) for key in _SAMPLING if row.get(key)), 0)
    if sampled > 1:
        raise MeasureError("measure.sampled", file=source, sampled=sampled)
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


_LARGEST_PAYLOAD = 65507 - 20  # largest UDP payload over IPv4, minus the header of a stored packet
MOST_BYTES = 2_000_000_000
"""Stored on disk: about ten million exports of thirty records each."""
_LOOK_EVERY_S = 0.2
_AT = argument("at", "listen")


def place(text: str) -> tuple[Address, int]:
    """Return the address and the port of ``ADDRESS:PORT``; a port alone is on 127.0.0.1.

    Raises MeasureError for another text.
    """
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address(host.strip("[]") or "127.0.0.1")
        number = int(port)
    except ValueError:
        raise MeasureError("measure.no-place", field=_AT, value=text) from None
    if not 1 <= number <= 65535:
        raise MeasureError("measure.no-port", field=_AT, value=text, port=number)
    return address, number


def listen(at: str, seconds: float, path: Path, progress: Progress | None = None) -> float:
    """Store the datagrams that arrive within ``seconds`` in a capture at ``path``.

    Returns the seconds of listening: fewer than ``seconds`` if ``MOST_BYTES`` were stored before.

    Raises MeasureError if the socket cannot be bound, nothing arrived, or nothing can be stored.
    """
    address, port = place(at)
    try:
        with _bound(address, port, at) as sock, path.open("wb") as file:
            _begin(file)
            count, listened = _keep(sock, port, seconds, file, progress)
    except OSError as error:
        raise MeasureError("measure.no-room", field=_AT, value=at, why=error.strerror) from None
    if not count:
        longer = 10 * seconds
        raise MeasureError(
            "measure.nothing-came", field=_AT, value=at, seconds=seconds, longer=longer
        )
    return listened


def _keep(
    sock: socket.socket, port: int, seconds: float, file: BinaryIO, progress: Progress | None
) -> tuple[int, float]:
    """Return the number of datagrams stored, and the time that this took."""
    count, begin = 0, time.monotonic()
    while (spent := time.monotonic() - begin) < seconds and file.tell() < MOST_BYTES:
        sock.settimeout(min(seconds - spent, _LOOK_EVERY_S))
        if progress is not None:
            progress(spent / seconds)
        try:
            data, (source, *_) = sock.recvfrom(_LARGEST_PAYLOAD)
        except TimeoutError:
            continue
        sender = ipaddress.ip_address(source.partition("%")[0])
        _append(file, time.time_ns(), sender, port, data)
        count += 1
    return count, min(spent, seconds)


def _bound(address: Address, port: int, at: str) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.bind((str(address), port))
    except OSError as error:
        sock.close()
        raise MeasureError("measure.not-bound", field=_AT, value=at, why=error.strerror) from None
    return sock
