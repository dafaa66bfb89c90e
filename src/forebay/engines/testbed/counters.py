"""Counts by the papers' methods: SNMP's interface counters and NetFlow, next to the router's own.

Both are read where a router has them: at the receivers' input device, by independent programs.
softflowd exports the window's flows, which are collected here; net-snmp's snmpd is polled once a
second.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.endpoint import SENDERS, TUN
from forebay.engines.testbed.errors import TestbedError, asking, unavailable
from forebay.engines.testbed.registry import RunResources
from forebay.packages import wanted
from forebay.words import Fact

_BEFORE_THE_END_S = 0.05


class Counted(NamedTuple):
    """Increase of a counter between two readings.

    Attributes
    ----------
    octets, packets : of IP, including headers.
    span_s : time between the readings.
    flows : number of different addresses and ports, if the counter has it.
    """

    octets: int
    packets: int
    span_s: float
    flows: int | None = None


class WindowClock:
    """Waits for times of the window; waiting ends with the run.

    Attributes
    ----------
    window_s : length of the measured window.
    last_s : time of the last reading since the window's start. Traffic ends with the window, so a
        slightly later reading would include time without traffic.
    """

    def __init__(self, warmup_s: float, window_s: float) -> None:
        self.window_s = window_s
        self.last_s = max(window_s / 2, window_s - _BEFORE_THE_END_S)
        self._warmup_s = warmup_s
        self._begins = 0.0
        self._over = threading.Event()

    def begin(self, at_s: float) -> None:
        """Set the start of the router's clock, on the monotonic clock."""
        self._begins = at_s + self._warmup_s

    def end(self) -> None:
        """End the run and all waiting."""
        self._over.set()

    def reached(self, after_s: float) -> bool:
        """Wait until this time in the window; False if the run ends before."""
        return not self._over.wait(max(0.0, self._begins + after_s - time.monotonic()))


def agreement(
    router: Counted, others: Mapping[str, Counted], rate_bps: float | None
) -> dict[str, Any]:
    """Return each count, and the difference of its rate from the router's in per cent.

    Parameters
    ----------
    router : packets that the receivers' device accepted in the window.
    others : the same by other counters, over nearly the same time: rates are compared.
    rate_bps : rate of the link, bit/s, if the device is behind only one; without it there is no
        utilization (octets × 8 / rate / time).
    """
    told = {}
    for name, counted in {"router": router, **others}.items():
        read = {of: value for of, value in counted._asdict().items() if value is not None}
        used = None if rate_bps is None else counted.octets * 8 / rate_bps / counted.span_s
        told[name] = read | {"utilization": used}
        for of in ("octets", "packets") if counted is not router else ():
            count, reference = getattr(counted, of), getattr(router, of)
            off = count / counted.span_s / (reference / router.span_s) - 1 if reference else None
            told[name][f"{of}_off_percent"] = None if off is None else 100 * off
    return told


# The kernel kills it when we end. It starts after it is recorded, and never if we end before.
_HELD = 'read -r _ && exec "$@" < /dev/null'
_ALSO = "/usr/sbin:/sbin"  # a root's PATH may lack them


def find(program: str) -> str | None:
    """Return the path of a program, or None."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_ALSO}")


@contextmanager
def daemon(
    command: Sequence[str],
    namespace: str,
    log: Path,
    started: Callable[[int], None],
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Run a program in a namespace until the context ends; what it says goes to the log.

    It must stay in the foreground and keep our user, because a program that changes its user would
    not be killed with us. ``started`` is called with the process ID before the program starts.
    """
    program, *arguments = command
    inside = ["nsenter", f"--net={namespaces.path_of(namespace)}"]
    held = ["sh", "-c", _HELD, "sh", find(program) or program, *arguments]
    with asking("testbed.starting-in-namespace", program=program), open(log, "wb") as said:
        child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *inside, *held],
            stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
    try:
        assert child.stdin is not None
        started(child.pid)
        with suppress(BrokenPipeError):
            child.stdin.write(b"\n")
            child.stdin.close()
        yield
    finally:
        namespaces.end(child)


def _last_words(log: Path) -> str:
    """Return the last line of a program's output, in brackets, for error messages."""
    said = log.read_text(errors="replace").strip().splitlines()
    return f" ({said[-1]})" if said else ""


SOFTFLOWD = "softflowd"
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
def netflow(
    namespace: str, scratch: Path, started: Callable[[int], None]
) -> Iterator[Callable[[WindowClock], Counted]]:
    """Start an exporter and a collector; yield a function that returns the count."""
    control, log = scratch / "softflowd.ctl", scratch / "softflowd.log"
    with closing(namespaces.inside(namespace, _collector)) as collector:
        # No timeout ends flows, so each active flow is one record.
        command = [
            SOFTFLOWD, "-d", "-N", "-i", TUN, "-v", "5",
            "-n", f"127.0.0.1:{collector.getsockname()[1]}",
            "-c", str(control), "-p", str(control.with_suffix(".pid")),
            "-m", str(_MOST_FLOWS), "-C", str(_OF_EACH_PACKET), "-B", str(_CAPTURED_OCTETS),
            "-t", "maxlife=0", f"src net {SENDERS}",
        ]  # fmt: skip
        with daemon(command, namespace, log, started):
            until = time.monotonic() + _APPEARS_WITHIN_S
            while not control.exists():
                if time.monotonic() > until:
                    raise TestbedError("testbed.softflowd", said=_last_words(log))
                time.sleep(0.01)
            yield lambda clock: _netflow_of(control, collector, clock)


def _collector() -> socket.socket:
    with asking("testbed.making-socket"):
        collector = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        collector.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _WAITING_OCTETS)
        collector.bind(("127.0.0.1", 0))
        collector.setblocking(False)
        return collector


def _netflow_of(control: Path, collector: socket.socket, clock: WindowClock) -> Counted:
    """Discard flows before the window; export all flows at its end."""
    for after_s, command in ((0.0, "delete-all"), (clock.last_s, "expire-all")):
        if not clock.reached(after_s):
            raise TestbedError("testbed.no-netflow")
        tell(control, command)
    datagrams: list[bytes] = []
    with suppress(BlockingIOError):  # on loopback, all that were sent are there
        while True:
            datagrams.append(collector.recv(_DATAGRAM))
    return total(datagrams, clock.last_s)


def tell(control: Path, command: str) -> str:
    """Send a command to softflowd like softflowctl(8); return when it is done."""
    telling = asking("testbed.telling-softflowd", command=command)
    with telling, socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_APPEARS_WITHIN_S)
        line.connect(str(control))
        line.sendall(f"{command}\n".encode())
        return b"".join(iter(lambda: line.recv(4096), b"")).decode(errors="replace")


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
            raise TestbedError("testbed.netflow-lost")
        expected = export.header.sequence + len(export.flows)
        records += export.flows
    first = min((record.FIRST_SWITCHED for record in records), default=0)
    last = max((record.LAST_SWITCHED for record in records), default=0)
    return Counted(
        octets=sum(record.IN_OCTETS for record in records),
        packets=sum(record.IN_PACKETS for record in records),
        span_s=float(last - first) / _MS_PER_S or asked_s,
        flows=len({tuple(getattr(record, name) for name in _IDENTITY) for record in records}),
    )


_PATIENCE_S = 0.25
_TRIES = 20


class SnmpRequests:
    """A context with a socket in the namespace of the thread that enters it; SNMPv2c."""

    def __init__(self, port: int) -> None:
        from pysnmp.hlapi.v1arch import asyncio as api

        self._to, self._api = ("127.0.0.1", port), api

    def __enter__(self) -> SnmpRequests:
        self._loop = asyncio.Runner()
        self._loop.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._close())
        self._loop.close()

    def get(self, community: str, *names: str) -> list[Any]:
        """Return the values of some objects."""
        return self._ask(self._api.get_cmd, community, [self._named(name) for name in names])

    def set(self, community: str, name: str, value: int) -> None:
        """Set an INTEGER."""
        self._ask(self._api.set_cmd, community, [self._named(name, self._api.Integer32(value))])

    async def _open(self) -> None:
        api = self._api
        self._dispatcher = api.SnmpDispatcher()
        self._target = await api.UdpTransportTarget.create(self._to, _PATIENCE_S, _TRIES)

    async def _close(self) -> None:
        self._dispatcher.close()
        await asyncio.sleep(0)  # lets the event loop close the socket

    def _named(self, name: str, *value: Any) -> Any:
        identity = self._api.ObjectIdentity(name.removeprefix("."))
        return self._api.ObjectType(identity, *value)

    def _ask(self, command: Any, community: str, objects: list[Any]) -> list[Any]:
        async def ask() -> Any:
            # In a coroutine, because objects made here belong to the running loop.
            who = self._api.CommunityData(community, mpModel=1)
            return await command(self._dispatcher, who, self._target, *objects, lookupMib=False)

        silent, refused, which, answers = self._loop.run(ask())
        if silent or refused:
            at = Fact("testbed.at-object", refused=refused.prettyPrint(), which=which)
            raise TestbedError("testbed.snmpd", said=silent or at)
        return [value for _, value in answers]


SNMPD = "snmpd"
EVERY_S = 1.0
_PORT = 161  # on the namespace's own loopback device, so it is free
_READER, _TUNER = "forebay", "forebay-cache"
_MIB_2 = ".1.3.6.1.2.1"
# NET-SNMP-AGENT-MIB's nsCacheTimeout of ifTable. Without it counters are up to 3 s old.
_CACHE = ".1.3.6.1.4.1.8072.1.5.3.1.2.1.3.6.1.2.1.2.2"
# ifXTable of IF-MIB, RFC 2863
_NAME = _MIB_2 + ".31.1.1.1.1"
_IN_OCTETS = _MIB_2 + ".31.1.1.1.6"
_IN_UNICAST = _MIB_2 + ".31.1.1.1.7"

_SETTINGS = f"""\
agentAddress udp:127.0.0.1:{_PORT}
rocommunity {_READER} 127.0.0.1 {_MIB_2}
rwcommunity {_TUNER} 127.0.0.1 {_CACHE}
"""


class Look(NamedTuple):
    at_s: float
    octets: int
    packets: int


@contextmanager
def snmp(
    namespace: str, scratch: Path, started: Callable[[int], None]
) -> Iterator[Callable[[WindowClock], Counted]]:
    """Start an agent with our settings; yield a function that returns the count."""
    settings, log = scratch / "snmpd.conf", scratch / "snmpd.log"
    settings.write_text(_SETTINGS)
    command = [SNMPD, "-f", "-C", "-c", str(settings), "-r", "-Le"]
    own = {"SNMP_PERSISTENT_DIR": str(scratch / "snmpd"), "MIBS": ""}
    with daemon(command, namespace, log, started, own):
        device = namespaces.inside(namespace, lambda: _prepare(log))
        yield lambda clock: namespaces.inside(namespace, lambda: _snmp_of(device, clock))


def _prepare(log: Path) -> int:
    """Disable the agent's cache, and return the device's number, checked by its name."""
    device = socket.if_nametoindex(TUN)
    try:
        with SnmpRequests(_PORT) as ask:
            (name,) = ask.get(_READER, f"{_NAME}.{device}")
            ask.set(_TUNER, _CACHE, 0)
    except TestbedError as error:
        wrong = Fact("testbed.with-log", wrong=error.parts["wrong"], said=_last_words(log))
        raise error.but(wrong=wrong) from error
    if str(name) != TUN:
        raise TestbedError("testbed.other-interface", device=device, name=name, tun=TUN)
    return device


def _snmp_of(device: int, clock: WindowClock) -> Counted:
    with SnmpRequests(_PORT) as ask:
        _look(ask, device)  # the first answer takes ten times as long as later ones
        looks = [
            _look(ask, device) for after_s in times(clock.last_s, EVERY_S) if clock.reached(after_s)
        ]
    return gained(looks)


def _look(ask: SnmpRequests, device: int) -> Look:
    before = time.monotonic()
    octets, packets = ask.get(_READER, f"{_IN_OCTETS}.{device}", f"{_IN_UNICAST}.{device}")
    return Look((before + time.monotonic()) / 2, int(octets), int(packets))


def times(until_s: float, every_s: float) -> list[float]:
    """Return the times of readings: at the start, each second, and at the end."""
    inside = [step * every_s for step in range(int(until_s / every_s) + 1)]
    return inside if inside[-1] == until_s else [*inside, until_s]


def gained(looks: list[Look]) -> Counted:
    """Return the counters' increase from the first to the last reading.

    Raises TestbedError: there are fewer than two readings.
    """
    if len(looks) < 2:
        raise TestbedError("testbed.no-snmp")
    first, last = looks[0], looks[-1]
    return Counted(last.octets - first.octets, last.packets - first.packets, last.at_s - first.at_s)


_NEEDS = {"snmp": (SNMPD, "pysnmp"), "netflow": (SOFTFLOWD, "netflow")}


def check(names: Sequence[str]) -> None:
    """Refuse counters that cannot be read on this machine.

    Raises EngineUnavailable: the program or the library of one of them is missing.
    """
    for program, library in (_NEEDS[name] for name in names):
        if find(program) is None:
            raise unavailable("engine-unavailable.no-program", program=program)
        if find_spec(library) is None:
            wants = wanted(library)
            raise unavailable("engine-unavailable.no-package", library=library, wanted=wants)


@dataclass
class Counters:
    """Counters that are ready for one run."""

    _follow: dict[str, Callable[[WindowClock], Counted]]
    _clock: WindowClock
    _pool: ThreadPoolExecutor
    _counts: dict[str, Future[Counted]] = field(default_factory=dict)

    def begin(self, at_s: float) -> None:
        """Set the start of the router's clock; start a thread for each counter."""
        self._clock.begin(at_s)
        for name, follow in self._follow.items():
            self._counts[name] = self._pool.submit(follow, self._clock)

    def counts(self) -> dict[str, Counted]:
        """Return the count of each, after the run."""
        return {name: count.result() for name, count in self._counts.items()}


@contextmanager
def counting(
    names: Sequence[str], namespace: str, scratch: Path, record: RunResources, clock: WindowClock
) -> Iterator[Counters]:
    """Start the counters' programs in a namespace; all of them end with the context."""
    readers = {"snmp": snmp, "netflow": netflow}
    with ExitStack() as stack:
        follow = {
            name: stack.enter_context(readers[name](namespace, scratch, record.started))
            for name in names
        }
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=max(1, len(names))))
        stack.callback(clock.end)  # before the threads are joined
        yield Counters(follow, clock, pool)
