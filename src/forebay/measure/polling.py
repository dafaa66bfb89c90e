"""Polls interface counters of a router by SNMPv2c (RFC 3416), with the library pysnmp.

Only the address that the user names is polled. Its answers are written row by row as the table that
``counters`` reads.
"""

from __future__ import annotations

import asyncio
import csv
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.measure.estimate import MeasureError
from forebay.packages import check_package
from forebay.progress import Progress
from forebay.words import argument

_HOST = argument("host", "snmp")
_PORT = 161
_PATIENCE_S, _TRIES = 2.0, 2
_ROWS_AT_ONCE = 25
# IF-MIB (RFC 2863): of the output direction, whose queue is that of the interface.
_NAME, _DESCRIPTION = "1.3.6.1.2.1.31.1.1.1.1", "1.3.6.1.2.1.2.2.1.2"
_OCTETS, _DROPS = "1.3.6.1.2.1.31.1.1.1.10", "1.3.6.1.2.1.2.2.1.19"
_PACKETS = tuple(f"1.3.6.1.2.1.31.1.1.1.{column}" for column in (11, 12, 13))
"""ifHCOutUcastPkts, ifHCOutMulticastPkts, ifHCOutBroadcastPkts."""
COLUMNS = ("time_s", "octets", "drops", "packets")


@dataclass(frozen=True)
class Agent:
    """The router to poll, and the community."""

    host: str
    port: int
    community: str

    @classmethod
    def parse(cls, text: str, community: str) -> Agent:
        """Read ``HOST`` or ``HOST:PORT``; an IPv6 address with a port is in brackets."""
        host, port = text, str(_PORT)
        if text.startswith("["):
            host, _, rest = text[1:].partition("]")
            port = rest.removeprefix(":") or port
        elif text.count(":") == 1:
            host, port = text.split(":")
        if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
            raise MeasureError("measure.bad-host", field=_HOST, value=text)
        return cls(host, int(port), community)


def poll(
    agent: Agent,
    interface: str,
    path: Path,
    seconds: float,
    every_s: float,
    progress: Progress | None = None,
) -> None:
    """Write the counters of an interface to ``path``, one row every ``every_s`` for ``seconds``.

    Raises MissingPackage without pysnmp; MeasureError if the router does not answer, or has no such
    interface.
    """
    if not (0 < every_s < math.inf and every_s <= seconds / 2 < math.inf):
        raise MeasureError(
            "measure.few-rows", field=argument("seconds"), value=seconds, every=every_s,
            least=2 * every_s,
        )  # fmt: skip
    check_package("SNMP", "pysnmp")

    async def write() -> None:
        async with _asking(agent) as questions:
            number = await questions.number(interface)
            first = await questions.row(number)  # before the file is made, to find errors first
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, lineterminator="\n")
                table.writerows([COLUMNS, first])
                begin = time.monotonic()
                for turn in range(1, int(seconds / every_s + 1e-9) + 1):
                    await asyncio.sleep(max(begin + turn * every_s - time.monotonic(), 0.0))
                    table.writerow(await questions.row(number))
                    file.flush()
                    if progress is not None:
                        progress(turn * every_s / seconds)

    asyncio.run(write())


@asynccontextmanager
async def _asking(agent: Agent) -> AsyncIterator[_Questions]:
    from pysnmp.error import PySnmpError
    from pysnmp.hlapi.v1arch import asyncio as snmp

    of = snmp.Udp6TransportTarget if ":" in agent.host else snmp.UdpTransportTarget
    dispatcher = snmp.SnmpDispatcher()
    try:
        target = await of.create((agent.host, agent.port), _PATIENCE_S, _TRIES)
        who = snmp.CommunityData(agent.community, mpModel=1)
        yield _Questions(agent, snmp, (dispatcher, who, target))
    except PySnmpError as error:
        why = " ".join(str(error).split())
        raise MeasureError("measure.snmp", field=_HOST, agent=agent, why=why) from None
    finally:
        dispatcher.close()
        await asyncio.sleep(0)  # lets the event loop close the socket


@dataclass
class _Questions:
    """Questions to an agent by ``snmp``, pysnmp's module; ``to`` is whom and how they are asked."""

    agent: Agent
    snmp: Any
    to: tuple[Any, Any, Any]

    async def number(self, interface: str) -> int:
        """Return the ifIndex of the interface that the agent calls so, by ifName or ifDescr."""
        known: dict[str, int] = {}
        options = {"lookupMib": False, "lexicographicMode": False}
        for wanted in (self._object(_NAME), self._object(_DESCRIPTION)):
            walk = self.snmp.bulk_walk_cmd(*self.to, 0, _ROWS_AT_ONCE, wanted, **options)
            async for answer in walk:
                for oid, value in self._checked(answer):
                    known.setdefault(str(value), int(str(oid).rpartition(".")[2]))
        if interface not in known:
            raise MeasureError(
                "measure.snmp-interface", field=argument("interface"), value=interface,
                agent=self.agent, known=", ".join(sorted(known)) or "none",
            )  # fmt: skip
        return known[interface]

    async def row(self, number: int) -> list[float]:
        """Return time and counters; the time is midway between question and answer."""
        wanted = [self._object(f"{column}.{number}") for column in (_OCTETS, _DROPS, *_PACKETS)]
        asked = time.monotonic()
        told = await self.snmp.get_cmd(*self.to, *wanted, lookupMib=False)
        at_s = (asked + time.monotonic()) / 2
        values = [value for _, value in self._checked(told)]
        if not all(_is_number(value) for value in values[:2]):
            raise MeasureError("measure.snmp-counters", field=_HOST, agent=self.agent)
        octets, drops, *packets = (int(value) if _is_number(value) else 0 for value in values)
        return [round(at_s, 6), octets, drops, sum(packets)]

    def _object(self, oid: str) -> Any:
        return self.snmp.ObjectType(self.snmp.ObjectIdentity(oid))

    def _checked(self, told: Any) -> Any:
        silent, refused, _, answers = told
        if silent:
            why = f"{silent}"[:1].lower() + f"{silent}"[1:]
            raise MeasureError("measure.snmp-silent", field=_HOST, agent=self.agent, why=why)
        if refused:
            why = refused.prettyPrint()
            raise MeasureError("measure.snmp-refuses", field=_HOST, agent=self.agent, why=why)
        return answers


def _is_number(value: Any) -> bool:
    """An agent that lacks an object answers with an exception in its place (RFC 3416)."""
    return type(value).__name__ in ("Counter32", "Counter64", "Gauge32", "Integer32", "Integer")
