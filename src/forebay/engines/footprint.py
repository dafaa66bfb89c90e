"""The limit of a run's memory: its estimate is held against it, and its process while it runs.

The memory of one replication is estimated before anything is drawn. The core says how large its
structures are (`forebay._core.structure_bytes`); what a run takes of each follows from the
scenario. tests/engines/test_memory_estimate.py holds the sum against the peak of 60 shapes of
scenarios.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from forebay import foreign
from forebay.catalogue import CONTROLS, DISCIPLINES, is_ours
from forebay.engines.replication.layout import Layout
from forebay.engines.replication.readings import n_parts
from forebay.errors import ForebayError
from forebay.progress import Progress, with_stages
from forebay.scenario import BOTTLENECK, MAX_OFFERED, REVERSE, DataSize, Scenario, ScenarioError
from forebay.scenario.crossing import ack_route, data_route
from forebay.scenario.tcp import Short, Tcp
from forebay.scenario.traffic import Traffic, Video
from forebay.scenario.transfers import Transfers

_DEFAULT = 2 * 10**9
"""Enough for tens of thousands of flows; half of the memory of machines with less than 4 GB."""
_CGROUP = Path("/sys/fs/cgroup/memory.max")


class Limit:
    """A memory limit in bytes, for the estimate of a run and for its process."""

    def __init__(self, octets: int | None = None) -> None:
        self.octets = default_limit() if octets is None else octets
        self._most: int | None = None

    def check(self, estimated: MemoryEstimate, seeds: int) -> None:
        """Refuse a run whose estimate is larger even with one replication at a time.

        Raises TooMuchMemory: with the number.
        """
        octets = estimated.least(seeds)
        self.check_octets(octets, "too-much-memory.estimated", seeds=max(seeds, 1))

    def check_octets(self, octets: float, kind: str, **values: object) -> None:
        """Refuse more bytes than the limit. Raises TooMuchMemory of a kind, with values."""
        if octets > self.octets:
            limit = DataSize(self.octets)
            raise TooMuchMemory(kind, octets=_three_digits(octets), limit=limit, **values)

    def side_by_side(
        self, estimated: MemoryEstimate, seeds: int, jobs: int, held_bytes: float = 0.0
    ) -> tuple[int, int]:
        """Return how many replications fit on threads at once, and how many may be drawn ahead.

        ``held_bytes`` are those of earlier runs, which are kept.
        """
        free = self.octets - held_bytes - seeds * estimated.reading - estimated.drawing
        threads = max(1, min(jobs, int(free / max(estimated.drawn + estimated.running, 1))))
        room = free - threads * estimated.running
        return threads, max(threads, int(min(room / max(estimated.drawn, 1), seeds)))

    def look(self, done: float | None = None) -> None:
        """Stop a run, done so far, whose process has exceeded the limit. Raises TooMuchMemory."""
        most = self.octets if self._most is None else self._most
        held = resident()
        if held > most:
            give_back()
            held = resident()
        if held > most:
            taken = "too-much-memory.taken"
            self.check_octets(held, taken, before=done is None, done=done or 0.0)

    def watch(self, progress: Progress | None) -> Progress:
        """Return a progress callback that stops the run when the process exceeds the limit.

        Memory that the process had before counts too, but at most for half of the limit; what
        it has freed does not count.
        """
        self._most = max(self.octets, resident() + self.octets // 2)

        def look(done: float) -> None:
            self.look(done)
            if progress is not None:
                progress(done)

        return with_stages(look, progress)


def default_limit() -> int:
    """Return 2 GB, or half of the memory of the machine or its container if that is less."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        machine = 2 * _DEFAULT
    with suppress(OSError, ValueError):  # no such file, or "max"
        machine = min(machine, int(_CGROUP.read_text()))
    return min(_DEFAULT, machine // 2)


def resident() -> int:
    """Return the resident bytes of this process, or its peak if only that is known."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def give_back() -> None:
    """Return what was freed to the system; glibc keeps it between blocks that are in use."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


class TooMuchMemory(ForebayError):
    """A run needs more memory than its limit.

    Attributes
    ----------
    wrong, hint : the amount and the limit, and what to write instead.
    """

    def __init__(self, kind: str, **values: Any) -> None:
        super().__init__(kind, field="memory", **values)


def _three_digits(octets: float) -> str:
    """Return a number of bytes in the command line's notation, with three digits."""
    unit, power = ("GB", 9) if octets >= 1e9 else ("MB", 6)
    return f"{octets / 10**power:.3g} {unit}"


# Bytes of what is not one structure of the core, each measured as the growth of the peak.
_STARTED = 2_000_000  # modules, and the first arrays
_FLOW_DRAWN = 150  # Workload's arrays, and FlowSpec in crates/sim
_FLOW_READ = 200  # its goodput in the arrays of readings and outcome
_FLOW_HEAP = 700  # controller, first rings, timers
_FLOW_HEAP_NEWRENO = 300  # the same without SACK: no scoreboard
_FLOW_HEAP_PACED = 2100  # also the model of the path and the pacer
_FLOW_FOREIGN = 700  # besides, what a control from outside is told, and its hooks
_FLOW_LISTED = 60  # of a transfer that is not made yet, or freed: its place, order and counts
_BETWEEN_SWEEPS = 4096  # transfers that are made before those that are over are freed (arrivals.rs)
_USUAL_WINDOW = 10
_LOSSY_START = 2000  # the ranges that a scoreboard has after a first window beyond the usual one
_PACKET_DRAWN = 40  # three copies at most of time and size, then 16 in crates/sim
_PACKET_HELD = 16
_FILE_DRAWN = 60
_FILE_HELD = 16
_FRAME = 200  # of video: normal numbers and two Fourier transforms, rounded up to a power of two
_CLASS = 56_000  # histograms, and the models of its outcome
_LINK = 15_000  # meters, and the models of its outcome
NETWORK_LINK = 26_000  # also its names, routes and rows
_NETWORK = 12_000_000  # modules that only networks need
ROUTE_CELL = 40.0
"""Bytes for each link of each path while a network is routed and laid out: 34, and its hosts'."""
_CAPTURED = 160  # 40 of a packet or event in crates/sim: two of each packet, two copies of the list
_RECORDED = 330  # of a flow or file: FlowRecord in crates/sim, in a list that grows by doubling
_OVERSHOOT = 2.0
"""A list that grows has room for twice what it holds."""
_LONGER = 10.0
"""Mean length of the short flows that one run draws, over that of their distribution, at most."""
_MOST_SLOTS = 2**15
_MOST_BUCKETS = 2**12  # of 512 slots, in which a wheel of more is kept, as far as the reach
_BUCKET = 16 * 32 + 8 * 12  # half a chunk of events; the ends are kept for eight times the reach
_NETWORK_WHEEL = 600_000


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Bytes of one replication.

    Attributes
    ----------
    drawing : only while its traffic is drawn.
    drawn : its traffic, from the draw to the end of its run.
    running : additional memory of the simulator during the run.
    reading : readings, until the last replication has run.
    routed : only while a network is routed, before anything else.
    """

    drawing: float
    drawn: float
    running: float
    reading: float
    routed: float = 0.0

    @property
    def alone(self) -> float:
        """One replication at a time, without the readings of others."""
        return self.drawn + max(self.drawing, self.running)

    def least(self, seeds: int) -> float:
        """`seeds` replications, one after the other."""
        return max(self.routed, self.alone + seeds * self.reading)


def estimate(
    scenario: Scenario,
    core: Mapping[str, int],
    *,
    samples: int = 0,
    watched: int = 0,
    captured: bool = False,
    recorded: bool = False,
    network: Layout | None = None,
    routed: float = 0.0,
) -> MemoryEstimate:
    """Estimate a replication.

    Parameters
    ----------
    core : bytes of the simulator's structures by name; empty if the flows run elsewhere.
    samples, watched : for a trace: the number of samples, and of flows in it.
    captured : whether all packets of the window and their ACKs are captured or logged. Those of a
        network are not estimated; the limit holds while it runs.
    recorded : whether every flow and file is recorded.
    network : the layout of a network's links, whose expanded scenario is given.
    routed : bytes that its routes take while they are found.

    Raises ScenarioError: more flows start, or more datagrams are sent, than one run may have.
    """
    seconds = float(scenario.measure.warmup + scenario.measure.duration)
    rate = scenario.link.capacity
    flows = sum(group.starting_in(seconds, rate) for group in scenario.traffic)
    files = sum(group.transfers_in(seconds) for group in scenario.traffic)
    packets = sum(group.datagrams_in(seconds, rate) for group in scenario.traffic)
    films = [group.frame_rate for group in scenario.traffic if isinstance(group, Video)]
    film = max((_FRAME * seconds * frame_rate for frame_rate in films), default=0.0)
    counts = {"out-of-range.starting": flows + files, "out-of-range.datagrams": packets}
    for kind, count in counts.items():
        if count > MAX_OFFERED:
            raise ScenarioError(kind, field="traffic", count=count, most=MAX_OFFERED)
    capture = 0.0
    if captured and network is None:
        window = scenario.measure.duration
        open_loop = sum(group.datagrams_in(window, rate) for group in scenario.traffic)
        segments = [float(group.packet) for group in scenario.traffic if isinstance(group, Tcp)]
        most = rate * window / 8 / min(segments) if segments else 0.0
        capture = _CAPTURED * (open_loop + 2 * most)
    links = 1 + len(scenario.links) if network is None else len(network.links)
    trace = samples * (60 + 24 * (links + 1) + 50 * watched)
    running = _running(scenario, core, seconds, network) if core else 0.0
    classes = len(scenario.traffic) * _CLASS
    readings = n_parts(scenario) / 20 * (links * _LINK + classes)
    if network is not None:
        readings = _NETWORK + links * NETWORK_LINK + classes
    return MemoryEstimate(
        drawing=packets * (_PACKET_DRAWN - _PACKET_HELD) + files * _FILE_DRAWN + film,
        drawn=_STARTED + flows * _FLOW_DRAWN + packets * _PACKET_HELD + files * _FILE_HELD,
        running=running + trace + capture,
        reading=readings + _FLOW_READ * flows + recorded * _RECORDED * (flows + files),
        routed=routed,
    )


def _running(
    scenario: Scenario, core: Mapping[str, int], seconds: float, network: Layout | None
) -> float:
    """Return the bytes of flows, packets on their way, queues and the event queue."""
    rate = scenario.link.capacity
    ending = [group for group in scenario.traffic if isinstance(group, Short | Transfers)]
    # No transfer ends, to be freed, while more and more wait for the link.
    freed = network is None and sum(group.offered(rate) for group in ending) < rate
    flows = sum(
        _made_at_a_time(group, seconds, rate, freed) * _flow(group, core)
        + group.starting_in(seconds, rate) * _FLOW_LISTED
        for group in scenario.traffic
    )
    # Of a packet in flight: its event, and what its sender remembers of it.
    paced = 1 if _is_paced(scenario) else 0
    remembered = core["segment"] + paced * (core["rate_record"] + core["segment"])
    in_flight = _OVERSHOOT * (core["event"] + remembered)
    ways = _packets_in_flight(scenario, seconds) * in_flight
    queues = [scenario.queue, *(link.queue for link in scenario.links)]
    if network is not None:
        hosts = 0 if network.flows is None else len(network.flows.hosts)
        queues = [scenario.queue] * (len(network.links) + hosts)
    many, state = sum(group.starting_in(seconds, rate) for group in scenario.traffic), 0.0
    for queue in queues:  # without its packets
        state += core["link"] + DISCIPLINES[queue.discipline].flow_bytes * many
        if queue.discipline == "fq_codel":
            state += core["fq_codel_bucket"] * (queue.buckets or 1024)
        if queue.discipline == "cake":
            state += core["cake_bucket"] * 1024.0
    return flows + ways + state + _event_queue(scenario, core, network)


def _made_at_a_time(group: Traffic, seconds: float, link_rate: float, freed: bool) -> float:
    """Return the most flows of a class that are in memory at the same time.

    Transfers are freed when they are over; those of a table may all start at once.
    """
    starting = group.starting_in(seconds, link_rate)
    listed = isinstance(group, Transfers) and group.table is not None
    if not freed or listed or not isinstance(group, Short | Transfers):
        return starting
    packets = group.mean_packets
    window = group.initial_window or (_USUAL_WINDOW if group.sender == "linux" else 2)
    # The windows of slow start that so many packets take, and one for the last ACK.
    round_trips = math.ceil(math.log2(1.0 + packets / window)) + 1
    held_s = round_trips * float(group.rtt.high)
    return min(starting, _BETWEEN_SWEEPS + _OVERSHOOT * starting / seconds * held_s)


def _flow(group: Traffic, core: Mapping[str, int]) -> float:
    """Return the bytes of one flow, and of the window that it begins with."""
    if not isinstance(group, Tcp):
        return core["flow"] + _FLOW_HEAP
    paced = sum(share for name, share in group.shares.items() if CONTROLS[name].paced)
    sack = group.sender == "linux" if group.sack is None else group.sack
    others = _FLOW_HEAP if sack else _FLOW_HEAP_NEWRENO
    heap = paced * _FLOW_HEAP_PACED + (1.0 - paced) * others
    window = max(group.initial_window or 0, _USUAL_WINDOW)
    more = _room(window) - _room(_USUAL_WINDOW)
    start = more * core["segment"] + (_LOSSY_START if window > _USUAL_WINDOW else 0)
    outside = {name: foreign.find(name) for name in group.shares if not is_ours(name)}
    states = sum(
        group.shares[name] * (_FLOW_FOREIGN + control.state_bytes)
        for name, control in outside.items()
        if control is not None
    )
    return core["flow"] + heap + start + states


def _room(segments: int) -> int:
    """Return the room of a ring that holds so many: a power of two (ring.rs in crates/sim)."""
    return 1 << (segments - 1).bit_length()


def _packets_in_flight(scenario: Scenario, seconds: float) -> float:
    """Return the most packets of TCP on the paths and in the queues, bounded by what is sent."""
    rate, offered = scenario.link.capacity, 0.0
    for group in scenario.traffic:
        if isinstance(group, Tcp):
            most = math.inf
            if isinstance(group, Short | Transfers):  # lengths may be several times their mean
                most = _LONGER * group.mean_packets
            offered += (1.0 + group.starting_in(seconds, rate)) * most
    held = scenario.bdp_packets + scenario.queue_packets(BOTTLENECK)
    return float(min(held, rate * seconds / (8 * scenario.packet), offered))


def _is_paced(scenario: Scenario) -> bool:
    shares = [group.shares for group in scenario.traffic if isinstance(group, Tcp)]
    return any(CONTROLS[name].paced for share in shares for name in share)


def _event_queue(scenario: Scenario, core: Mapping[str, int], network: Layout | None) -> float:
    """Return the bytes of the wheel of events, as wheel_size.rs in crates/sim chooses its slots."""
    if network is not None:
        return _NETWORK_WHEEL
    packet_s = 8.0 * scenario.packet / max(_carried_bps(scenario), 1.0)
    queues = [scenario.queue, *(link.queue for link in scenario.links)]
    by_flow = any(DISCIPLINES[queue.discipline].flow_bytes for queue in queues)
    further = _is_paced(scenario) or (len(queues) > 1 and by_flow)
    tcp = [group for group in scenario.traffic if isinstance(group, Tcp)]
    delayed = all(group.sender == "linux" and group.delayed_ack is not False for group in tcp)
    width_s = packet_s / (2 if delayed else 4) / (4 if further else 1)
    longest_s = max((float(group.rtt.high) for group in tcp), default=0.0)
    slot_s = 2.0 ** math.floor(math.log2(width_s))
    slots = 2.0 ** math.ceil(math.log2(max(longest_s / slot_s, 1.0)))
    if slots > _MOST_SLOTS:
        return _BUCKET * min(slots / 512, _MOST_BUCKETS)
    return core["event"] * slots


def _carried_bps(scenario: Scenario) -> float:
    """Return what all links can carry together, no more than those before send (wheel_size.rs)."""
    rates = {link.name: float(link.capacity) for link in scenario.links}
    rates[BOTTLENECK] = float(scenario.link.capacity)
    rates[REVERSE] = float(scenario.link.opposite.capacity)
    both_ways = any(group.direction == "reverse" for group in scenario.traffic)
    firsts, before = set[str](), dict[str, set[str]]()
    for group in scenario.traffic:
        acks = ack_route(group, both_ways=both_ways) if isinstance(group, Tcp) else ()
        for way in (data_route(group), acks):
            firsts |= set(way[:1])
            for a, b in pairwise(way):
                before.setdefault(b, set()).add(a)
    comes = {name: sum(rates[upstream] for upstream in before.get(name, ())) for name in rates}
    return sum(rate if name in firsts else min(rate, comes[name]) for name, rate in rates.items())
