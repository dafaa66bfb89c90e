"""Bytes that a replication takes, from the scenario alone.

What grows with the run itself (packets in flight, segments that a sender remembers) is not
in it: `Limit.watch` sees that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.replication import BATCHES, MOST_BINS, n_parts
from forebay.scenario import BOTTLENECK, Replay, Session, Short, Tcp, Video

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Traffic

# Bytes of one entry, as counted in the code of the place and rounded up.
_FLOW_DRAWN = 150  # Workload's arrays, and FlowSpec in crates/sim
_FLOW_RUN = 1100  # Flow with its controller and scoreboard, and its first timer
_FLOW_PACED = 1500  # the same of a controller that models the path, with its pacing timer
_MODELS = frozenset({"bbr", "bbr3"})
_PACKET_DRAWN = 40  # three copies at most of time and size, then 16 in crates/sim
_PACKET_HELD = 16
_FILE_DRAWN = 60
_FILE_HELD = 16
_FRAME = 200  # of the film: normal numbers and two Fourier transforms, of a power of two
_ENTRY = 8  # of a histogram
_COUNTS = 32  # of a class at a link, or of a class, in one batch
_COPIES = 3  # of readings: as they are counted, handed over, and summed up
_HISTOGRAM = 3776 * _ENTRY  # of times, whatever they are
_CAPTURED = 80  # 40 of CapturedPacket in crates/sim, twice while they grow or are sorted
_WHEEL = 34_000_000  # of the event queue


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes of one replication.

    Attributes
    ----------
    drawing : float
        While its traffic is drawn, and gone after that.
    drawn : float
        Its traffic, from when it is drawn until it has run.
    running : float
        What the simulator adds to that while it runs.
    reading : float
        What is kept of it until the last replication has run.
    """

    drawing: float
    drawn: float
    running: float
    reading: float

    @property
    def alone(self) -> float:
        """One replication at a time, all but what others leave behind."""
        return self.drawn + max(self.drawing, self.running)

    def least(self, seeds: int) -> float:
        """So many replications, one after the other."""
        return self.alone + seeds * self.reading


def estimate(
    scenario: Scenario, samples: int = 0, watched: int = 0, *, captured: bool = False
) -> Estimate:
    """Estimate a replication.

    Parameters
    ----------
    samples, watched
        Of a trace: its instants, and the flows that it follows.
    captured
        Whether all packets of the window are kept, and the ACKs for them.
    """
    seconds = scenario.measure.warmup + scenario.measure.duration
    flows = running = packets = files = film = 0.0
    for group in scenario.traffic:
        these = _flows(scenario, group, seconds)
        flows += these
        running += these * _flow_run(group)
        files += _files(group, seconds)
        packets += _packets(scenario, group, seconds)
        film = max(film, _film(group, seconds))
    readings = _readings(scenario)
    links = len(scenario.links) + 2
    trace = samples * (60 + 24 * links + 50 * watched)
    return Estimate(
        drawing=packets * (_PACKET_DRAWN - _PACKET_HELD) + files * _FILE_DRAWN + film,
        drawn=flows * _FLOW_DRAWN + packets * _PACKET_HELD + files * _FILE_HELD,
        running=running + _WHEEL + _COPIES * readings + trace + captured * _capture(scenario),
        reading=readings + _ENTRY * flows,
    )


def _capture(scenario: Scenario) -> float:
    seconds = scenario.measure.duration
    open_loop = sum(_packets(scenario, group, seconds) for group in scenario.traffic)
    segments = [float(group.packet) for group in scenario.traffic if isinstance(group, Tcp)]
    most = scenario.link.capacity * seconds / 8 / min(segments) if segments else 0.0
    return _CAPTURED * (open_loop + 2 * most)


def _flows(scenario: Scenario, group: Traffic, seconds: float) -> float:
    if isinstance(group, Short):
        return group.arrivals_per_second(scenario.link.capacity) * seconds
    return float(group.flows)


def _flow_run(group: Traffic) -> float:
    if not isinstance(group, Tcp):
        return _FLOW_RUN
    paced = sum(share for name, share in group.shares.items() if name in _MODELS)
    return paced * _FLOW_PACED + (1.0 - paced) * _FLOW_RUN


def _files(group: Traffic, seconds: float) -> float:
    if isinstance(group, Session):
        return group.flows * group.files_in(seconds)
    return 0.0


def _packets(scenario: Scenario, group: Traffic, seconds: float) -> float:
    if isinstance(group, Tcp):
        return 0.0
    if isinstance(group, Replay):
        return float(group.most_packets())
    return group.packets_in(seconds, scenario.link.capacity)


def _film(group: Traffic, seconds: float) -> float:
    return _FRAME * seconds * group.frame_rate if isinstance(group, Video) else 0.0


def _readings(scenario: Scenario) -> float:
    """Histograms and counts of all links and classes."""
    batches, classes = n_parts(scenario), len(scenario.traffic)
    buffers = [scenario.queue_packets(BOTTLENECK)] * 2
    buffers += [scenario.queue_packets(link.name) for link in scenario.links]
    smallest = min((_smallest(group) for group in scenario.traffic), default=64)
    # A queue in bytes holds more packets the smaller they are.
    bins = sum(min(buffer * scenario.packet / smallest, MOST_BINS) for buffer in buffers)
    counts = batches * classes * (len(buffers) + 1) * _COUNTS
    return batches * bins * _ENTRY + counts + (len(buffers) + classes) * _HISTOGRAM + BATCHES


def _smallest(group: Traffic) -> float:
    return 1.0 if isinstance(group, Replay) else min(40.0, float(group.packet))
