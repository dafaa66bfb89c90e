"""NetFlow: softflowd next to the receivers exports the window's flows, which are collected here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.counters.agreement import Counted, WindowClock
from forebay.engines.testbed.endpoint import SENDERS, TUN
from forebay.engines.testbed.errors import TestbedError, asking

# The kernel kills it when we end. It starts after it is recorded, and never if we end before.
_HELD = 'read -r _ && exec "$@" < /dev/null'
_ALSO = "/usr/sbin:/sbin"  # a root's PATH may lack them


def find(program: str) -> str | None:
    """Return the path of a program, or None."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_ALSO}")


class Daemon:
    """A context: leaving it ends the program.

    Parameters
    ----------
    command : the program and its arguments. It must stay in the foreground and keep our user,
        because a program that changes its user would not be killed with us.
    started : called with the process ID before the program starts.
    """

    def __init__(
        self,
        command: Sequence[str],
        namespace: str,
        log: Path,
        started: Callable[[int], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._log = log
        program, *arguments = command
        inside = ["nsenter", f"--net={namespaces.path_of(namespace)}"]
        held = ["sh", "-c", _HELD, "sh", find(program) or program, *arguments]
        with asking(f"starting {program}", "install util-linux"), open(log, "wb") as said:
            self._child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *inside, *held],
                stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        assert self._child.stdin is not None
        started(self._child.pid)
        with suppress(BrokenPipeError):
            self._child.stdin.write(b"\n")
            self._child.stdin.close()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        namespaces.end(self._child)

    @property
    def last_words(self) -> str:
        """The last line of its output, in brackets, for error messages."""
        said = self._log.read_text(errors="replace").strip().splitlines()
        return f" ({said[-1]})" if said else ""


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
_IDENTITY = ("IPV4_SRC_ADDR", "IPV4_DST_ADDR", "SRC_PORT", "DST_PORT", "PROTO")


@contextmanager
def reader(
    namespace: str, scratch: Path, started: Callable[[int], None]
) -> Iterator[Callable[[WindowClock], Counted]]:
    """Start an exporter and a collector; yield a function that returns the count."""
    control = scratch / "softflowd.ctl"
    with closing(namespaces.inside(namespace, _collector)) as collector:
        command = _command(control, collector.getsockname()[1])
        with Daemon(command, namespace, scratch / "softflowd.log", started) as exporter:
            until = time.monotonic() + _APPEARS_WITHIN_S
            while not control.exists():
                if time.monotonic() > until:
                    raise TestbedError(f"softflowd does not start{exporter.last_words}")
                time.sleep(0.01)
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

    Raises TestbedError: their sequence numbers have a gap: some were lost.
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
        flows=len({tuple(getattr(each, name) for name in _IDENTITY) for each in records}),
    )


def _span(records: list[Any]) -> float:
    first = min((each.FIRST_SWITCHED for each in records), default=0)
    last = max((each.LAST_SWITCHED for each in records), default=0)
    return float(last - first) / _MS_PER_S
