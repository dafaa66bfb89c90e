from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from os import PathLike
from typing import Any, Literal, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from forebay.engines.replication.readings import RawReadings

__version__: str
CONGESTION_CONTROLS: list[str]

_PerRound = tuple[float, float, float]
"""(segments, share, power): max(segments, share * cwnd**power) segments a round trip."""

class Controller(TypedDict):
    """What a congestion control declares in `crates/sim/src/cc/list.rs`."""

    name: str
    paced: bool
    decrease: Literal["share", "bandwidth", "model"]
    kept_after_loss: float | None
    marks: Literal["loss", "fraction", "l4s", "ignored"]
    timeout_reduces_ssthresh: bool
    growth: tuple[_PerRound, _PerRound] | None
    response: Literal["reno", "cubic", "scalable"] | None
    needs_every_ack: bool
    source: str

class QueueDiscipline(TypedDict):
    """Defaults of parameters in seconds, bytes, numbers, 0 or 1; None for a computed one."""

    name: str
    decides_at_dequeue: bool
    parameters: dict[str, float | None]

SENDER_OPTIONS: list[str]
"""Names of what a scenario may override of a stack."""

def controllers() -> list[Controller]: ...
def disciplines() -> list[QueueDiscipline]: ...
def structure_bytes() -> dict[str, int]:
    """Return the bytes of each structure whose number grows with flows, links or packets."""

@final
class Profile:
    def __new__(cls, name: str, options: dict[str, object] | None = None) -> Profile: ...

@final
class Link:
    def __new__(cls, plan: dict[str, Any]) -> Link: ...

class ControlFault(Exception):
    """A control from outside did what none may; ``args`` are its name and what."""

class Wants(TypedDict):
    """What a control from outside asks for."""

    paces: bool
    controls_cwnd: bool
    ecn: bool
    l4s: bool
    unlimited: bool
    state_bytes: int

class Window:
    """What a control steers, in segments and segments a second."""

    cwnd: float
    ssthresh: float
    pacing_rate: float | None

@final
class Round:
    """What a flow saw in a round trip."""

    now_s: float
    acked: int
    lost: int
    marked: int
    rtt_s: float | None
    srtt_s: float
    min_rtt_s: float | None
    in_flight: int
    delivery_rate: float | None
    cwnd_limited: bool

@final
class ForeignControl:
    """A control of a library, loaded into this process."""

    def __new__(cls, path: str | PathLike[str], name: str) -> ForeignControl: ...
    @staticmethod
    def of_class(name: str, class_: type, paces: bool, controls_cwnd: bool) -> ForeignControl: ...
    @property
    def own_name(self) -> str: ...
    @property
    def wants(self) -> Wants: ...
    def calls(self) -> dict[str, int | None]: ...
    def conforms(self) -> list[tuple[str, str | None]]: ...
    def fault(self) -> str | None: ...

class Tally(TypedDict):
    """Calls and differing calls by hook, and the first difference of each."""

    calls: dict[str, tuple[int, int]]
    first: list[dict[str, Any]]

@final
class ShadowedControl:
    """A control that steers, and one from outside that is called beside it."""

    def __new__(cls, ours: str | ForeignControl, other: ForeignControl) -> ShadowedControl: ...
    def tally(self) -> Tally: ...

@final
class Flows:
    def __new__(
        cls,
        *,
        traffic_class: NDArray[np.int32],
        route: NDArray[np.int32],
        congestion_control: NDArray[np.int32],
        rtt_ps: NDArray[np.int64],
        start_ps: NDArray[np.int64],
        segments: NDArray[np.int64],
        packet_bytes: NDArray[np.int32],
        access_bps: NDArray[np.float64],
        open_loop: NDArray[np.bool_],
        packet_offsets: NDArray[np.int64] | None = None,
        file_offsets: NDArray[np.int64] | None = None,
        stop_ps: NDArray[np.int64] | None = None,
        foreign: Sequence[ForeignControl | ShadowedControl] = (),
    ) -> Flows: ...

@final
class Sources:
    def __new__(
        cls,
        *,
        packet_at_ps: NDArray[np.int64],
        packet_bytes: NDArray[np.int32],
        file_segments: NDArray[np.int64],
        file_think_ps: NDArray[np.int64],
    ) -> Sources: ...

@final
class Run:
    def __new__(
        cls,
        *,
        links: Sequence[Link],
        routes: Sequence[tuple[Sequence[int], Sequence[int]]],
        profiles: Sequence[Profile],
        flows: Flows,
        seed: int,
        warmup_ps: int,
        window_ps: int,
        batches: int,
        sources: Sources | None = None,
        barriers: Sequence[tuple[int, int, int, Sequence[int]]] = (),
        memory_bytes: int | None = None,
        trace_step_ps: int | None = None,
        trace_flows: Sequence[int] = (),
        capture: bool = False,
        flow_records: bool = False,
        logged_links: int = 0,
        foreign: Sequence[ForeignControl | ShadowedControl] = (),
    ) -> Run: ...

@final
class Packets:
    def __len__(self) -> int: ...
    def write(self, path: str | PathLike[str], interfaces: Sequence[str], comment: str) -> None: ...

@final
class FlowRecords:
    def __len__(self) -> int: ...
    def columns(
        self, first: int = 0, end: int | None = None, names: Sequence[str] | None = None
    ) -> FlowRecordColumns: ...

@final
class PacketLog:
    EVENTS: Sequence[str]
    def __len__(self) -> int: ...
    def columns(self, first: int, end: int) -> dict[str, NDArray[np.int64]]: ...
    def write_capture(
        self, path: str | PathLike[str], links: Sequence[str], comment: str
    ) -> None: ...

class FlowRecordColumns(TypedDict):
    """Shape (records,), flow by flow; NaN, and -1 for ``segments``, is what there was none of."""

    flow: NDArray[np.int64]
    transfer: NDArray[np.int64]
    segments: NDArray[np.int64]
    window_bytes: NDArray[np.int64]
    sent: NDArray[np.int64]
    lost: NDArray[np.int64]
    retransmitted: NDArray[np.int64]
    timeouts: NDArray[np.int64]
    marks: NDArray[np.int64]
    start_s: NDArray[np.float64]
    first_byte_s: NDArray[np.float64]
    last_byte_s: NDArray[np.float64]
    min_rtt_s: NDArray[np.float64]
    mean_rtt_s: NDArray[np.float64]
    ideal_s: NDArray[np.float64]

class Readings(RawReadings):
    """What the simulator has besides."""

    capture: Packets | None
    packet_log: PacketLog | None

def simulate(
    runs: Sequence[Run], *, jobs: int, progress: Callable[[float], None] | None = None
) -> list[Readings]: ...
def csv_rows(columns: Sequence[NDArray[Any] | Sequence[str]], whole: Sequence[bool]) -> bytes: ...

_Counted = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Middles of the bins that are not empty, and what they hold."""

_Changes = tuple[float, NDArray[np.float64]]
"""Width of a bin in seconds; by how many flows their number changes in each."""

class CaptureFile(TypedDict):
    """One file: frames, and those that could not be used."""

    path: str
    frames: int
    not_ip: int
    not_ip_bytes: int
    not_ip_kinds: dict[str, int]
    cut_short: int
    unusable: int
    interfaces: list[str]
    unread_link_types: list[int]
    ending: str | None

class CaptureFlows(TypedDict):
    """Sums over flows that crossed the link; `forebay_capture::flows::tally` says what of."""

    tuples: int
    flows: int
    censored: int
    long: int
    long_bytes: int
    short_bytes: int
    short_begun: int
    data_segments: int
    lost_before: int
    repeated: int
    late: int
    tcp_bytes: int
    quic_bytes: int
    udp_bytes: int
    other_bytes: int
    lengths: _Counted
    short_packets: _Counted
    rtt_us: _Counted
    rtt_us_at_least: _Counted
    rtt_us_at_most: _Counted
    unstamped_rtt_us: _Counted
    least_rtt_us: _Counted
    handshake_us: _Counted
    recovery_us: _Counted
    concurrent: _Changes
    lossy: _Changes
    avoiding: _Changes
    brief: _Changes
    longest: NDArray[np.uint64]
    bursts: NDArray[np.uint64]
    left_after_loss: NDArray[np.uint64]

class CaptureReadings(TypedDict):
    """What crossed a link.

    ``scales`` has a row a dyadic interval: its seconds, how many there are, the sum of their
    bytes and of the squares. ``list`` has the nanoseconds and bytes of packets that do not answer.
    """

    start_ns: int
    duration_s: float
    packets: int
    bytes: int
    returning: int
    back_in_time: int
    both_ways: int
    ecn_capable: int
    ecn_marked: int
    list: tuple[NDArray[np.int64], NDArray[np.int64]]
    unlisted: int
    load_width_s: float
    load_bytes: NDArray[np.float64]
    packet_bytes: NDArray[np.int64]
    packet_counts: NDArray[np.int64]
    scales: NDArray[np.float64]
    crowded_out: int
    peak_flows: int
    flows: CaptureFlows
    files: list[CaptureFile]

def measure_capture(
    paths: Sequence[str],
    *,
    interface: str | None = None,
    toward: Sequence[tuple[IPv4Address | IPv6Address, int]] = (),
    overhead: int = 0,
    idle_s: float = 60.0,
    most_flows: int = ...,
    listed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> CaptureReadings:
    """Raises ValueError for a file that is no capture."""

class ExportReadings(TypedDict):
    """What exported flow records say crossed a link; series begin at ``base_ms``."""

    records: int
    bytes: int
    packets: int
    tcp_bytes: int
    sampling: int
    drawn: int
    lost: int
    arrived: int
    reordered: int
    without_template: int
    incomplete: int
    not_exports: int
    base_ms: int
    continued: int
    cut_early: int
    forgotten: int
    finer: int
    span_ms: tuple[int, int] | None
    timeouts_s: tuple[int | None, int | None]
    load_width_s: float
    load_bytes: NDArray[np.float64]
    concurrent: _Changes
    long: _Changes
    perhaps: _Changes
    lengths: _Counted
    files: list[CaptureFile]

def measure_exports(
    paths: Sequence[str], *, progress: Callable[[int], None] | None = None
) -> ExportReadings:
    """Raises ValueError for a file that is no capture."""
