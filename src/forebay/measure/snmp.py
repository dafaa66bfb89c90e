"""Estimates from an interface that is polled by SNMP, like those from counters in a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.measure.arguments import bits_per_second
from forebay.measure.counters import counters, rtt_range
from forebay.measure.estimate import Measured

if TYPE_CHECKING:
    from forebay.progress import Progress


def snmp(
    host: str,
    *,
    interface: str,
    rate: str,
    rtt: str | None,
    seconds: float = 300.0,
    every: float = 10.0,
    community: str = "public",
    keep: str | os.PathLike[str] | None = None,
    packet: str = "1500 B",
    congestion_control: str | None = None,
    buffer: str | None = None,
    goal: float | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Poll an interface's sent bytes and drops by SNMPv2c, then estimate as `counters`.

    Needs pysnmp: ``pip install "forebay[counters]"``. Only ``host`` is polled.

    Parameters
    ----------
    host : a router's address or name, with ``:PORT`` if it is not 161.
    interface : the router's name of the link's interface: ifName or ifDescr of IF-MIB (RFC 2863).
        The output is counted, including link headers: ifHCOutOctets, ifOutDiscards.
    seconds, every : duration and period of polling. Many routers update their counters every few
        seconds.
    community : the router's community for reading.
    keep : path at which the table is stored; `counters` can read it. None: it is not stored.
    rate, rtt, packet, congestion_control, buffer, goal : as in `counters`.
    progress : called with the fraction of the time done.

    Raises MeasureError if the router does not answer, has no such interface, or an option does not
    fit.
    """
    from forebay.measure.polling import Agent, poll  # asyncio, which nothing else needs here

    agent = Agent.parse(host, community)
    bits_per_second(rate)
    rtt_range(rtt)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "polled.csv") if keep is None else Path(keep)
        poll(agent, interface, table, seconds, every, progress)
        measured = counters(
            table, rate=rate, rtt=rtt, packet=packet, congestion_control=congestion_control,
            buffer=buffer, goal=goal, source=f"{interface} of {host} by SNMP",
        )  # fmt: skip
    octets = "octets are those of the interface, on Ethernet 18 bytes for each frame more than IP"
    measured.notes.append(octets)
    return measured
