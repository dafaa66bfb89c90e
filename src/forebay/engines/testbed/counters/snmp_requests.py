"""SNMP requests, one after the other, from a thread inside the agent's namespace."""

from __future__ import annotations

import asyncio
from typing import Any

from forebay.engines.testbed.errors import TestbedError

_PATIENCE_S = 0.25
_TRIES = 20


class SnmpRequests:
    """A context with a socket in the namespace of the thread that enters it; SNMPv2c."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)

    def __enter__(self) -> SnmpRequests:
        self._loop = asyncio.Runner()
        self._loop.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._close())
        self._loop.close()

    def get(self, community: str, *names: str) -> list[Any]:
        """Return the values of some objects."""
        from pysnmp.hlapi.v1arch import asyncio as snmp

        return self._ask(snmp.get_cmd, community, [self._named(name) for name in names])

    def set(self, community: str, name: str, value: int) -> None:
        """Set an INTEGER."""
        from pysnmp.hlapi.v1arch import asyncio as snmp

        self._ask(snmp.set_cmd, community, [self._named(name, snmp.Integer32(value))])

    async def _open(self) -> None:
        from pysnmp.hlapi.v1arch import asyncio as snmp

        self._dispatcher = snmp.SnmpDispatcher()
        self._target = await snmp.UdpTransportTarget.create(self._to, _PATIENCE_S, _TRIES)

    async def _close(self) -> None:
        self._dispatcher.close()
        await asyncio.sleep(0)  # lets the event loop close the socket

    def _named(self, name: str, *value: Any) -> Any:
        from pysnmp.hlapi.v1arch import asyncio as snmp

        return snmp.ObjectType(snmp.ObjectIdentity(name.removeprefix(".")), *value)

    def _ask(self, command: Any, community: str, objects: list[Any]) -> list[Any]:
        from pysnmp.hlapi.v1arch import asyncio as snmp

        async def ask() -> Any:
            # In a coroutine, because objects made here belong to the running loop.
            who = snmp.CommunityData(community, mpModel=1)
            return await command(self._dispatcher, who, self._target, *objects, lookupMib=False)

        silent, refused, which, answers = self._loop.run(ask())
        if silent or refused:
            wrong = silent or f"{refused.prettyPrint()} at object {which}"
            raise TestbedError(f"asking snmpd: {wrong}", "check if snmpd runs elsewhere")
        return [value for _, value in answers]
