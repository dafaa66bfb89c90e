"""The memory of a run: estimated before it starts, watched while it runs.

`estimate` computes the bytes of a replication from the scenario. It does not include what grows
during the run (packets in flight, segments that a sender remembers); `Limit.watch` sees that.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.catalogue import CONTROLS, DISCIPLINES
from forebay.engines.replication import BATCHES, MOST_BINS, n_parts
from forebay.errors import ForebayError, argument
from forebay.scenario import (
    BOTTLENECK,
    MAX_OFFERED,
    DataSize,
    ScenarioError,
    Tcp,
    Video,
)

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.scenario import Scenario, Traffic

_DEFAULT = 2 * 10**9
"""Enough for tens of thousands of flows; half of the memory of machines with less than 4 GB."""
_CGROUP = Path("/sys/fs/cgroup/memory.max")


class Limit:
    """A memory limit in bytes, for the estimate of a run and for its process."""

    def __init__(self, octets: int | None = None) -> None:
        self.octets = default_limit() if octets is None else octets

    def check(self, estimated: Estimate, seeds: int) -> None:
        """Refuse a run whose estimate is larger even with one replication at a time.

        Raises
        ------
        TooMuchMemory
            With the number.
        """
        least = estimated.least(seeds)
        if least > self.octets:
            many = f"{seeds} replications take" if seeds > 1 else "the run takes"
            about, limit = _three_digits(least), _as_written(self.octets)
            wrong = f"{many} about {about}, above the limit of {limit}"
            raise TooMuchMemory(wrong)

    def check_octets(self, octets: float, smaller: str) -> None:
        """Refuse more bytes than the limit; ``smaller`` is the hint. Raises TooMuchMemory."""
        if octets > self.octets:
            about, limit = _three_digits(octets), _as_written(self.octets)
            wrong = f"the run takes about {about}, above the limit of {limit}"
            raise TooMuchMemory(wrong, smaller)

    def side_by_side(
        self, estimated: Estimate, seeds: int, jobs: int, held_bytes: float = 0.0
    ) -> tuple[int, int]:
        """Return how many replications fit on threads at once, and how many may be drawn ahead.

        ``held_bytes`` are those of earlier runs, which are kept.
        """
        free = self.octets - held_bytes - seeds * estimated.reading - estimated.drawing
        threads = max(1, min(jobs, int(free / max(estimated.drawn + estimated.running, 1))))
        room = free - threads * estimated.running
        return threads, max(threads, int(min(room / max(estimated.drawn, 1), seeds)))

    def watch(self, progress: Progress | None) -> Progress:
        """Return a progress callback that stops the run when the process exceeds the limit.

        Memory that the process had before counts too, but at most for half of the limit; what
        it has freed does not count.
        """
        most = max(self.octets, resident() + self.octets // 2)

        def look(done: float) -> None:
            held = resident()
            if held > most:
                give_back()
                held = resident()
            if held > most:
                taken, limit = _three_digits(held), _as_written(self.octets)
                wrong = (
                    f"the run has taken {taken} after {done:.0%} of it, above the limit of {limit}"
                )
                raise TooMuchMemory(wrong)
            if progress is not None:
                progress(done)

        if (stage := getattr(progress, "stage", None)) is not None:
            look.stage = stage  # type: ignore[attr-defined]  # a function's attribute
        return look


def default_limit() -> int:
    """Return 2 GB, or half of the machine's memory if that is less."""
    return min(_DEFAULT, _machine() // 2)


def resident() -> int:
    """Return the resident bytes of this process, or its peak if only that is known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
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


def _machine() -> int:
    """Return the machine's memory, or its container's limit."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        found = 2 * _DEFAULT
    try:
        return min(found, int(_CGROUP.read_text()))
    except (OSError, ValueError):  # no such file, or "max"
        return found


class TooMuchMemory(ForebayError):
    """A run needs more memory than its limit.

    Attributes
    ----------
    wrong, hint : str
        The amount and the limit, and what to write instead.
    """

    code = "too-much-memory"

    def __init__(self, wrong: str, smaller: str = "a smaller scenario, fewer seeds") -> None:
        self.wrong, self.smaller = wrong, smaller
        self.hint = f"write {smaller}, or a larger {argument('memory_limit')}"
        super().__init__(f"memory: {wrong}; {self.hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.wrong, self.smaller))


def _three_digits(octets: float) -> str:
    """Return a number of bytes in the command line's notation, with three digits."""
    unit, power = ("GB", 9) if octets >= 1e9 else ("MB", 6)
    return f"{octets / 10**power:.3g} {unit}"


def _as_written(octets: int) -> str:
    """Return a limit in the notation of the user."""
    return str(DataSize(octets))


# Bytes of one entry, counted in the code named, rounded up.
_FLOW_DRAWN = 150  # Workload's arrays, and FlowSpec in crates/sim
_FLOW_RUN = 1100  # Flow with its controller and scoreboard, and its first timer
_FLOW_PACED = 2800  # with pacing: also the pacer, and a rate record for each segment
_PACKET_DRAWN = 40  # three copies at most of time and size, then 16 in crates/sim
_PACKET_HELD = 16
_FILE_DRAWN = 60
_FILE_HELD = 16
_FRAME = 200  # of video: normal numbers and two Fourier transforms, rounded up to a power of two
_ENTRY = 8  # of a histogram
_COUNTS = 32  # of a class in one batch, also at each link
_COPIES = 3  # of readings: counted, passed to Python, summarized
_HISTOGRAM = 3776 * _ENTRY  # of times; its size is fixed
_CAPTURED = 80  # 40 of CapturedPacket in crates/sim; two copies while the list grows or is sorted
_WHEEL = 34_000_000  # of the event queue


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes of one replication.

    Attributes
    ----------
    drawing : float
        Only while its traffic is drawn.
    drawn : float
        Its traffic, from the draw to the end of its run.
    running : float
        Additional memory of the simulator during the run.
    reading : float
        Readings, until the last replication has run.
    """

    drawing: float
    drawn: float
    running: float
    reading: float

    @property
    def alone(self) -> float:
        """One replication at a time, without the readings of others."""
        return self.drawn + max(self.drawing, self.running)

    def least(self, seeds: int) -> float:
        """`seeds` replications, one after the other."""
        return self.alone + seeds * self.reading


def estimate(
    scenario: Scenario, samples: int = 0, watched: int = 0, *, captured: bool = False
) -> Estimate:
    """Estimate a replication.

    Parameters
    ----------
    samples, watched
        For a trace: the number of samples, and of flows in it.
    captured
        Whether all packets of the window and their ACKs are captured.

    Raises
    ------
    ScenarioError
        More flows start, or more datagrams are sent, than one run may have.
    """
    seconds = scenario.measure.warmup + scenario.measure.duration
    flows = running = packets = files = film = 0.0
    rate = scenario.link.capacity
    for group in scenario.traffic:
        these = group.starting_in(seconds, rate)
        flows += these
        running += these * _flow_run(group)
        files += group.transfers_in(seconds)
        packets += group.datagrams_in(seconds, rate)
        film = max(film, _film(group, seconds))
    _check_counts(flows + files, packets)
    running += flows * _queue_state(scenario)
    readings = _readings(scenario)
    links = len(scenario.links) + 2
    trace = samples * (60 + 24 * links + 50 * watched)
    return Estimate(
        drawing=packets * (_PACKET_DRAWN - _PACKET_HELD) + files * _FILE_DRAWN + film,
        drawn=flows * _FLOW_DRAWN + packets * _PACKET_HELD + files * _FILE_HELD,
        running=running + _WHEEL + _COPIES * readings + trace + captured * _capture(scenario),
        reading=readings + _ENTRY * flows,
    )


def _check_counts(flows: float, packets: float) -> None:
    counts = (
        (flows, "flows in all", "write fewer flows, or a shorter measure.duration"),
        (packets, "datagrams in all", "write a lower rate, or a shorter measure.duration"),
    )
    for count, what, hint in counts:
        if count > MAX_OFFERED:
            wrong = f"about {count:.3g} {what} are above the most, {MAX_OFFERED}"
            raise ScenarioError("out-of-range", wrong, hint, field="traffic")


def _queue_state(scenario: Scenario) -> int:
    """Return the bytes that the disciplines of all links take for a flow."""
    queues = [scenario.queue, *(link.queue for link in scenario.links)]
    return sum(DISCIPLINES[queue.discipline].flow_bytes for queue in queues)


def _capture(scenario: Scenario) -> float:
    seconds = scenario.measure.duration
    open_loop = sum(
        group.datagrams_in(seconds, scenario.link.capacity) for group in scenario.traffic
    )
    segments = [float(group.packet) for group in scenario.traffic if isinstance(group, Tcp)]
    most = scenario.link.capacity * seconds / 8 / min(segments) if segments else 0.0
    return _CAPTURED * (open_loop + 2 * most)


def _flow_run(group: Traffic) -> float:
    if not isinstance(group, Tcp):
        return _FLOW_RUN
    paced = sum(share for name, share in group.shares.items() if CONTROLS[name].paced)
    return paced * _FLOW_PACED + (1.0 - paced) * _FLOW_RUN


def _film(group: Traffic, seconds: float) -> float:
    return _FRAME * seconds * group.frame_rate if isinstance(group, Video) else 0.0


def _readings(scenario: Scenario) -> float:
    """Histograms and counts of all links and classes."""
    batches, classes = n_parts(scenario), len(scenario.traffic)
    buffers = [scenario.queue_packets(BOTTLENECK)] * 2
    buffers += [scenario.queue_packets(link.name) for link in scenario.links]
    smallest = min((group.smallest_packet for group in scenario.traffic), default=64)
    # A queue with a limit in bytes holds more small packets.
    bins = sum(min(buffer * scenario.packet / smallest, MOST_BINS) for buffer in buffers)
    counts = batches * classes * (len(buffers) + 1) * _COUNTS
    return batches * bins * _ENTRY + counts + (len(buffers) + classes) * _HISTOGRAM + BATCHES
