"""Live exports: datagrams at a UDP socket, stored as a capture that ``exports`` reads."""

from __future__ import annotations

import ipaddress
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from forebay.errors import argument, option
from forebay.measure import flow_records
from forebay.measure.estimate import MeasureError

if TYPE_CHECKING:
    from forebay.progress import Progress

_LARGEST = 65507 - 20  # largest UDP payload over IPv4, minus the header of a stored packet
MOST_BYTES = 2_000_000_000
"""Stored on disk: about ten million exports of thirty records each."""
_LOOK_EVERY_S = 0.2
_WRITE = "write an address and a port, 127.0.0.1:2055 or [::1]:2055; or the port alone"


def place(text: str) -> tuple[flow_records.Address, int]:
    """Return the address and the port of ``ADDRESS:PORT``; a port alone is on 127.0.0.1.

    Raises MeasureError for another text.
    """
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address(host.strip("[]") or "127.0.0.1")
        number = int(port)
    except ValueError:
        raise MeasureError(f"{argument('at', 'listen')}: {text!r}; {_WRITE}") from None
    if not 1 <= number <= 65535:
        raise MeasureError(f"{argument('at', 'listen')}: {text!r}: no port {number}; {_WRITE}")
    return address, number


def listen(at: str, seconds: float, path: Path, progress: Progress | None = None) -> float:
    """Store the datagrams that arrive within ``seconds`` in a capture at ``path``.

    Returns the seconds of listening: fewer than ``seconds`` if ``MOST_BYTES`` were stored before.

    Raises MeasureError if the socket cannot be bound, nothing arrived, or nothing can be stored.
    """
    address, port = place(at)
    try:
        with _bound(address, port, at) as sock, path.open("wb") as file:
            flow_records.begin(file)
            count, listened = _keep(sock, port, seconds, file, progress)
    except OSError as error:
        why = f"the datagrams cannot be stored ({error.strerror})"
        said = f"{argument('at', 'listen')}: {at}: {why}"
        raise MeasureError(f"{said}; name a folder with room as TMPDIR") from None
    if not count:
        why = f"no datagram arrived within {seconds:g} s; do the routers export to it?"
        longer = f"Or listen longer, {option('seconds', f'{10 * seconds:g}')}"
        raise MeasureError(f"{argument('at', 'listen')}: {at}: {why} {longer}")
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
            data, (source, *_) = sock.recvfrom(_LARGEST)
        except TimeoutError:
            continue
        sender = ipaddress.ip_address(source.partition("%")[0])
        flow_records.append(file, time.time_ns(), sender, port, data)
        count += 1
    return count, min(spent, seconds)


def _bound(address: flow_records.Address, port: int, at: str) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.bind((str(address), port))
    except OSError as error:
        sock.close()
        wrong = f"{argument('at', 'listen')}: {at}: {error.strerror}"
        raise MeasureError(f"{wrong}; name another place") from None
    return sock
