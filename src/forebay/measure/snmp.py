"""An interface that is polled by SNMP to estimates, as its counters in a file would give."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.measure.answer import Measured
from forebay.measure.arguments import bits_per_second
from forebay.measure.counters import check_rtt, counters
from forebay.measure.polling import Agent, poll

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
    goal: float = 0.98,
    progress: Progress | None = None,
) -> Measured:
    """Poll what an interface sends and drops by SNMPv2c, then say what `counters` says of it.

    Needs pysnmp, by ``pip install "forebay[counters]"``. Nobody but ``host`` is asked.

    Parameters
    ----------
    host
        A router's address or name, with ``:PORT`` where that is not 161.
    interface
        The link's interface as the router names it: ifName or ifDescr of IF-MIB (RFC 2863). What
        it sends is counted, link headers included: ifHCOutOctets, ifOutDiscards.
    seconds, every
        How long to poll, and how often. Many routers renew their counters once in several seconds.
    community
        What the router takes for a question of a reader.
    keep
        Where the table is kept, which `counters` reads again; None: nowhere.
    rate, rtt, packet, congestion_control, buffer, goal
        As of `counters`.
    progress
        Called with the fraction of the time that is over.

    Raises
    ------
    MeasureError
        Nobody answers, the router has no such interface, or an option does not fit.
    """
    agent = Agent.parse(host, community)
    bits_per_second(rate)
    check_rtt(rtt)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "polled.csv") if keep is None else Path(keep)
        poll(agent, interface, table, seconds, every, progress)
        measured = counters(
            table, rate=rate, rtt=rtt, packet=packet, congestion_control=congestion_control,
            buffer=buffer, goal=goal, source=f"{interface} of {host} by SNMP",
        )  # fmt: skip
    octets = "octets are the interface's own, which on Ethernet count 18 bytes a frame more than IP"
    measured.notes.append(octets)
    return measured
