"""Converts goflow2's JSON, a record a line, to IPFIX datagrams: of version 2, and of version 1."""

from __future__ import annotations

import ipaddress
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forebay.measure.errors import MeasureError
from forebay.measure.flow_records import FlowRecord, packed, protocol_number, write

_ENDINGS = (".json", ".jsonl", ".ndjson")
_WRITE = "write it by goflow2 -format json"
_LONGEST = 1 << 20  # bytes of a line
# The keys of version 2 and version 1, and of their times the factor to milliseconds.
_KEYS = {
    "source": ("src_addr", "SrcAddr"), "destination": ("dst_addr", "DstAddr"),
    "from": ("src_port", "SrcPort"), "to": ("dst_port", "DstPort"), "protocol": ("proto", "Proto"),
    "packets": ("packets", "Packets"), "bytes": ("bytes", "Bytes"),
}  # fmt: skip
_FIRST = {"time_flow_start_ns": 1e-6, "TimeFlowStartMs": 1.0, "TimeFlowStart": 1e3}
_LAST = {"time_flow_end_ns": 1e-6, "TimeFlowEndMs": 1.0, "TimeFlowEnd": 1e3}
_SAMPLING = ("sampling_rate", "SamplingRate")


def is_json(path: str) -> bool:
    """Return whether a file has the name of a list of JSON."""
    return path.lower().endswith(_ENDINGS)


def to_capture(source: str, path: Path) -> None:
    """Write the records of goflow2's JSON ``source`` as a capture of IPFIX at ``path``.

    Raises
    ------
    MeasureError
        A line cannot be read; the error has its number. A record is of sampled packets.
    """
    try:
        write(path, _records(source))
    except OSError as error:
        raise MeasureError(f"{source}: cannot be read ({error.strerror}); {_WRITE}") from None


def _records(source: str) -> Iterator[FlowRecord]:
    with Path(source).open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            if not line.strip():
                continue
            try:
                row = dict(json.loads(line))
                _refuse_sampled(source, row)
                record = _record(row)
                packed(record)  # what does not fit is said with its line
            except MeasureError:
                raise
            except (
                ValueError,
                KeyError,
                TypeError,
                OverflowError,
                StopIteration,
                struct.error,
                RecursionError,
            ):
                shown = line[:60].decode("utf-8", "replace").strip()
                wrong = f"{source}: line {number}: {shown!r} is not a flow"
                raise MeasureError(f"{wrong}; {_WRITE}") from None
            yield record


def _refuse_sampled(source: str, row: dict[str, Any]) -> None:
    sampled = next((int(row[key]) for key in _SAMPLING if row.get(key)), 0)
    if sampled > 1:
        wrong = f"{source}: one packet of {sampled} was sampled, which a record's sums do not show"
        raise MeasureError(f"{wrong}; capture the router's own datagrams")


def _record(row: dict[str, Any]) -> FlowRecord:
    value = {name: row[next(key for key in keys if key in row)] for name, keys in _named(row)}
    return FlowRecord(
        ipaddress.ip_address(value["source"]), ipaddress.ip_address(value["destination"]),
        int(value["from"]), int(value["to"]), protocol_number(str(value["protocol"])),
        int(value["packets"]), int(value["bytes"]), _time(row, _FIRST), _time(row, _LAST),
    )  # fmt: skip


def _named(row: dict[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the keys that a record must have; ports of protocols without any are 0."""
    for name in ("from", "to"):
        if not any(key in row for key in _KEYS[name]):
            row[_KEYS[name][0]] = 0
    missing = [name for name, keys in _KEYS.items() if not any(key in row for key in keys)]
    if missing:
        raise KeyError(missing[0])
    return list(_KEYS.items())


def _time(row: dict[str, Any], keys: dict[str, float]) -> int:
    """Return milliseconds since 1970; a key that is 0 is not set."""
    return next(int(int(row[key]) * factor) for key, factor in keys.items() if row.get(key))
