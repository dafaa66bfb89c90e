"""The kinds of traffic; each is a class of `forebay.scenario`."""

from collections.abc import Callable
from dataclasses import dataclass

from forebay.catalogue.record import Record, by_name


@dataclass(frozen=True, kw_only=True)
class Kind(Record):
    """A kind of traffic.

    Attributes
    ----------
    name : ``kind`` in a scenario.
    drawn_by : module and function of `forebay.workload` that draw it.
    draws : what its draw makes.
    counts : what its ``flows`` are.
    runs_tcp : whether a congestion control determines its rate.
    completes : whether its flows or transfers end, so that they have completion times.
    open_loop : whether it does not respond to loss: real-time traffic.
    in_bursts : whether the laws of bursts (paper A, section 4) describe it if it cannot fill a
        link.
    lasts : whether its flows send for the whole run: n of the laws.
    single_datagrams : whether each of its arrivals is one datagram, independent of the others.
    waits_for_itself : whether it sends less while its last transfer is under way: a closed loop of
        users.
    in_fixed_point : whether the network engine's steady state has it.
    in_simulated_network : whether it has a number of connections to divide among routes, or a route
        for each transfer, so that the packets of a whole network can be simulated.
    """

    drawn_by: str
    draws: str
    counts: str
    runs_tcp: bool
    completes: bool
    open_loop: bool
    in_bursts: bool
    lasts: bool
    single_datagrams: bool
    waits_for_itself: bool
    in_fixed_point: bool
    in_simulated_network: bool

    @property
    def has_no_steady_state(self) -> bool:
        """Whether a network has it only where its packets are simulated: each has its own route."""
        return self.in_simulated_network and not self.in_fixed_point


KINDS = by_name((
    Kind(
        name="long", drawn_by="drawing.long", counts="flows that send for the whole run",
        draws="flows with a start and a path",
        runs_tcp=True, completes=False, open_loop=False, in_bursts=True, lasts=True,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=True, in_simulated_network=True,
    ),
    Kind(
        name="short", drawn_by="drawing.short", counts="none: flows arrive at a rate",
        draws="arrivals of a Poisson process, and lengths",
        runs_tcp=True, completes=True, open_loop=False, in_bursts=True, lasts=False,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=True, in_simulated_network=False,
    ),
    Kind(
        name="session", drawn_by="drawing.session", counts="users",
        draws="users, their files and pauses",
        runs_tcp=True, completes=True, open_loop=False, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=True,
        in_fixed_point=False, in_simulated_network=False,
    ),
    Kind(
        name="requests", drawn_by="drawing.requests", counts="workers",
        draws="groups of workers, their answers, and the pauses between requests",
        runs_tcp=True, completes=True, open_loop=False, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=True,
        in_fixed_point=False, in_simulated_network=False,
    ),
    Kind(
        name="transfers", drawn_by="drawing.transfers", counts="none: each transfer has its start",
        draws="arrivals of a Poisson process and sizes, or nothing: a table gives both",
        runs_tcp=True, completes=True, open_loop=False, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=False, in_simulated_network=True,
    ),
    Kind(
        name="udp", drawn_by="open_loop.udp", counts="senders",
        draws="datagrams at a rate",
        runs_tcp=False, completes=False, open_loop=True, in_bursts=True, lasts=False,
        single_datagrams=True, waits_for_itself=False,
        in_fixed_point=True, in_simulated_network=True,
    ),
    Kind(
        name="onoff", drawn_by="open_loop.onoff", counts="senders",
        draws="periods of sending and silence",
        runs_tcp=False, completes=False, open_loop=True, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=True, in_simulated_network=False,
    ),
    Kind(
        name="video", drawn_by="open_loop.video", counts="streams",
        draws="frames of a long-range dependent film",
        runs_tcp=False, completes=False, open_loop=True, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=True, in_simulated_network=False,
    ),
    Kind(
        name="replay", drawn_by="open_loop.replay", counts="one for each list",
        draws="nothing: a list gives each datagram",
        runs_tcp=False, completes=False, open_loop=True, in_bursts=False, lasts=False,
        single_datagrams=False, waits_for_itself=False,
        in_fixed_point=False, in_simulated_network=False,
    ),
))  # fmt: skip
"""All kinds of traffic of a scenario, by name."""


def kinds_that(are: Callable[[Kind], bool]) -> frozenset[str]:
    """Return the names of the kinds for which a property of the record is true."""
    return frozenset(kind.name for kind in KINDS.values() if are(kind))


WITHOUT_SEEDS = ("theory", "atlas")
"""Engines that compute their answers: the same for each seed, and at once."""
