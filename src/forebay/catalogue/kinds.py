"""The kinds of traffic; each is a class of `forebay.scenario`."""

from __future__ import annotations

from dataclasses import dataclass

from forebay.catalogue.record import Record, by_name


@dataclass(frozen=True, kw_only=True)
class Kind(Record):
    """A kind of traffic.

    Attributes
    ----------
    name : ``kind`` in a scenario.
    draws : what its draw makes.
    counts : what its ``flows`` are.
    runs_tcp : whether a congestion control determines its rate.
    completes : whether its flows or transfers end, so that they have completion times.
    open_loop : whether it does not respond to loss: real-time traffic.
    in_bursts : whether the laws of bursts (paper A, section 4) describe it if it cannot fill a
        link.
    """

    draws: str
    counts: str
    runs_tcp: bool
    completes: bool
    open_loop: bool
    in_bursts: bool


KINDS = by_name(
    (
        Kind(
            name="long",
            draws="flows with a start and a path",
            counts="flows that send for the whole run",
            runs_tcp=True,
            completes=False,
            open_loop=False,
            in_bursts=True,
        ),
        Kind(
            name="short",
            draws="arrivals of a Poisson process, and lengths",
            counts="none: flows arrive at a rate",
            runs_tcp=True,
            completes=True,
            open_loop=False,
            in_bursts=True,
        ),
        Kind(
            name="session",
            draws="users, their files and pauses",
            counts="users",
            runs_tcp=True,
            completes=True,
            open_loop=False,
            in_bursts=False,
        ),
        Kind(
            name="udp",
            draws="datagrams at a rate",
            counts="senders",
            runs_tcp=False,
            completes=False,
            open_loop=True,
            in_bursts=True,
        ),
        Kind(
            name="onoff",
            draws="periods of sending and silence",
            counts="senders",
            runs_tcp=False,
            completes=False,
            open_loop=True,
            in_bursts=False,
        ),
        Kind(
            name="video",
            draws="frames of a long-range dependent film",
            counts="streams",
            runs_tcp=False,
            completes=False,
            open_loop=True,
            in_bursts=False,
        ),
        Kind(
            name="replay",
            draws="nothing: a list gives each datagram",
            counts="one for each list",
            runs_tcp=False,
            completes=False,
            open_loop=True,
            in_bursts=False,
        ),
    )
)
"""All kinds of traffic of a scenario, by name."""
