"""Interface counters by SNMP: net-snmp's snmpd next to the receivers, polled once a second."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.counters.agreement import Counted, WindowClock
from forebay.engines.testbed.counters.netflow import Daemon
from forebay.engines.testbed.endpoint import TUN
from forebay.engines.testbed.errors import TestbedError

_PATIENCE_S = 0.25
_TRIES = 20


class SnmpRequests:
    """A context with a socket in the namespace of the thread that enters it; SNMPv2c."""

    def __init__(self, port: int) -> None:
        from pysnmp.hlapi.v1arch import asyncio as snmp

        self._to, self._api = ("127.0.0.1", port), snmp

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
        snmp = self._api
        self._dispatcher = snmp.SnmpDispatcher()
        self._target = await snmp.UdpTransportTarget.create(self._to, _PATIENCE_S, _TRIES)

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
            wrong = silent or f"{refused.prettyPrint()} at object {which}"
            raise TestbedError(f"asking snmpd: {wrong}", "check if snmpd runs elsewhere")
        return [value for _, value in answers]


PROGRAM = "snmpd"
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
    """Both counters at one time of the monotonic clock."""

    at_s: float
    octets: int
    packets: int


@contextmanager
def reader(
    namespace: str, scratch: Path, started: Callable[[int], None]
) -> Iterator[Callable[[WindowClock], Counted]]:
    """Start an agent with our settings; yield a function that returns the count."""
    settings = scratch / "snmpd.conf"
    settings.write_text(_SETTINGS)
    command = [PROGRAM, "-f", "-C", "-c", str(settings), "-r", "-Le"]
    own = {"SNMP_PERSISTENT_DIR": str(scratch / "snmpd"), "MIBS": ""}
    with Daemon(command, namespace, scratch / "snmpd.log", started, own) as agent:
        device = namespaces.inside(namespace, lambda: _prepare(agent))
        yield lambda clock: namespaces.inside(namespace, lambda: _follow(device, clock))


def _prepare(agent: Daemon) -> int:
    """Disable the agent's cache, and return the device's number, checked by its name."""
    device = socket.if_nametoindex(TUN)
    try:
        with SnmpRequests(_PORT) as ask:
            (name,) = ask.get(_READER, f"{_NAME}.{device}")
            ask.set(_TUNER, _CACHE, 0)
    except TestbedError as error:
        raise TestbedError(f"{error.missing}{agent.last_words}", error.hint) from error
    if str(name) != TUN:
        raise TestbedError(f"SNMP calls interface {device} {name}, and it is {TUN}")
    return device


def _follow(device: int, clock: WindowClock) -> Counted:
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
        raise TestbedError("the run was over before SNMP could be read twice")
    first, last = looks[0], looks[-1]
    return Counted(last.octets - first.octets, last.packets - first.packets, last.at_s - first.at_s)
