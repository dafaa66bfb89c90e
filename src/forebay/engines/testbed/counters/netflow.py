"""NetFlow: softflowd next to the receivers exports the window's flows, which are collected here."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.addresses import SENDERS
from forebay.engines.testbed.counters.daemons import Daemon
from forebay.engines.testbed.counters.window_clock import Counted, WindowClock
from forebay.engines.testbed.endpoint import TUN
from forebay.engines.testbed.errors import TestbedError, asking

PROGRAM = "softflowd"
# Receive buffer for all datagrams of a run until its end: 48 octets for each flow.
_WAITING_OCTETS = 64 << 20
_SO_RCVBUFFORCE = 33  # asm-generic/socket.h; root may go beyond the machine's limit
_MOST_FLOWS = 1 << 20
# softflowd 1.1 uses libpcap without a timeout, so it gets packets only in full blocks of 128 KiB.
# Complete packets fill a block after tens of packets, headers only after hundreds.
_OF_EACH_PACKET = 65535
_CAPTURED_OCTETS = 32 << 20
_APPEARS_WITHIN_S = 5.0
_DATAGRAM = 65536
_MS_PER_S = 1e3


@contextmanager
def reader(
    namespace: str, scratch: Path, started: Callable[[int], None]
) -> Iterator[Callable[[WindowClock], Counted]]:
    """Start an exporter and a collector; yield a function that returns the count."""
    control = scratch / "softflowd.ctl"
    with closing(namespaces.inside(namespace, _collector)) as collector:
        command = _command(control, collector.getsockname()[1])
        with Daemon(command, namespace, scratch / "softflowd.log", started) as exporter:
            _await(control, exporter)
            yield lambda clock: _follow(control, collector, clock)


def _command(control: Path, port: int) -> list[str]:
    """Return the command; no timeout ends flows, so each active flow is one record."""
    return [
        PROGRAM, "-d", "-N", "-i", TUN, "-v", "5", "-n", f"127.0.0.1:{port}",
        "-c", str(control), "-p", str(control.with_suffix(".pid")),
        "-m", str(_MOST_FLOWS), "-C", str(_OF_EACH_PACKET), "-B", str(_CAPTURED_OCTETS),
        "-t", "maxlife=0",
        f"src net {SENDERS}",
    ]  # fmt: skip


def _collector() -> socket.socket:
    with asking("making a socket for NetFlow"):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _WAITING_OCTETS)
        made.bind(("127.0.0.1", 0))
        made.setblocking(False)
        return made


def _await(control: Path, exporter: Daemon) -> None:
    until = time.monotonic() + _APPEARS_WITHIN_S
    while not control.exists():
        if time.monotonic() > until:
            raise TestbedError(f"softflowd does not start{exporter.last_words}")
        time.sleep(0.01)


def _follow(control: Path, collector: socket.socket, clock: WindowClock) -> Counted:
    """Discard flows before the window; export all flows at its end."""
    for after_s, command in ((0.0, "delete-all"), (clock.last_s, "expire-all")):
        if not clock.reached(after_s):
            raise TestbedError("the run was over before NetFlow could be read")
        tell(control, command)
    return total(_received(collector), clock.last_s)


def tell(control: Path, command: str) -> str:
    """Send a command to softflowd like softflowctl(8); return when it is done."""
    with asking(f"telling softflowd to {command}"), socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_APPEARS_WITHIN_S)
        line.connect(str(control))
        line.sendall(f"{command}\n".encode())
        return b"".join(iter(lambda: line.recv(4096), b"")).decode(errors="replace")


def _received(collector: socket.socket) -> list[bytes]:
    """Read the datagrams; on loopback, all that were sent are there."""
    datagrams = []
    while True:
        try:
            datagrams.append(collector.recv(_DATAGRAM))
        except BlockingIOError:
            return datagrams


def total(datagrams: list[bytes], asked_s: float) -> Counted:
    """Add up the flows of NetFlow version 5 datagrams.

    The span is from the first packet to the last in the records, because these are the packets
    that were counted; with fewer than two, it is ``asked_s``.

    Raises
    ------
    TestbedError
        Their sequence numbers have a gap: some were lost.
    """
    import netflow

    records: list[Any] = []
    expected = None
    for datagram in datagrams:
        # As hexadecimal text, because the library reads octets that look like text as such.
        export = netflow.parse_packet(datagram.hex())
        if expected not in (None, export.header.sequence):
            raise TestbedError("NetFlow datagrams were lost", "leave the machine idle")
        expected = export.header.sequence + len(export.flows)
        records += export.flows
    return Counted(
        octets=sum(each.IN_OCTETS for each in records),
        packets=sum(each.IN_PACKETS for each in records),
        span_s=_span(records) or asked_s,
        flows=len({_identity(each) for each in records}),
    )


def _span(records: list[Any]) -> float:
    first = min((each.FIRST_SWITCHED for each in records), default=0)
    last = max((each.LAST_SWITCHED for each in records), default=0)
    return float(last - first) / _MS_PER_S


def _identity(flow: Any) -> tuple[int, ...]:
    return (flow.IPV4_SRC_ADDR, flow.IPV4_DST_ADDR, flow.SRC_PORT, flow.DST_PORT, flow.PROTO)
