from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, final

import numpy as np
from numpy.typing import NDArray

__version__: str
CONGESTION_CONTROLS: list[str]

@final
class Profile:
    def __new__(
        cls,
        name: str,
        *,
        ecn: bool = False,
        initial_window: int | None = None,
        sack: bool | None = None,
        delayed_ack: bool | None = None,
        min_rto_ps: int | None = None,
        max_window: int | None = None,
        jitter_ps: int = 0,
    ) -> Profile: ...

@final
class Link:
    def __new__(
        cls,
        rate_bps: float,
        *,
        buffer_packets: int,
        packet_bytes: int = 1500,
        discipline: str = "pfifo",
        parameters: Mapping[str, float] | None = None,
        transmit_ring: int = 0,
        delay_ps: int = 0,
        alpha: float | None = None,
    ) -> Link: ...

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
    ) -> Flows: ...

@final
class Plays:
    def __new__(
        cls,
        *,
        packet_at_ps: NDArray[np.int64],
        packet_bytes: NDArray[np.int32],
        file_segments: NDArray[np.int64],
        file_think_ps: NDArray[np.int64],
    ) -> Plays: ...

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
        plays: Plays | None = None,
        memory_bytes: int | None = None,
        trace_step_ps: int | None = None,
        trace_flows: Sequence[int] = (),
    ) -> Run: ...

_Histogram = tuple[NDArray[np.float64], NDArray[np.float64]]

_Stretches = tuple[float, _Histogram]

class LinkDetail(TypedDict):
    """Shape (bins,); total seconds and histogram of the lengths of busy and idle periods."""

    seen: NDArray[np.int64]
    busy: _Stretches
    idle: _Stretches

class LinkReadings(TypedDict):
    """Shapes (batches,), (batches, bins) and (batches, classes); detail only with a trace."""

    busy_s: NDArray[np.float64]
    queue_packet_s: NDArray[np.float64]
    delay_sum_s: NDArray[np.float64]
    queue_s: NDArray[np.float64]
    queue_bin_width: int
    delay: _Histogram
    arrivals: NDArray[np.int64]
    drops: NDArray[np.int64]
    marks: NDArray[np.int64]
    sent_bytes: NDArray[np.int64]
    detail: LinkDetail | None

class Incidents(TypedDict):
    """What happened since the sample before; shape (incidents,)."""

    at_s: NDArray[np.float64]
    flow: NDArray[np.int64]
    count: NDArray[np.int64]

class TraceReadings(TypedDict):
    """Shapes (samples,), (links, samples), (flows traced, samples) and (all flows,)."""

    at_s: NDArray[np.float64]
    queue: NDArray[np.int64]
    window_sum: NDArray[np.float64]
    in_avoidance: NDArray[np.int64]
    cwnd: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    state: NDArray[np.int64]
    window_mean: NDArray[np.float64]
    window_variance: NDArray[np.float64]
    drops: Incidents
    reductions: Incidents

class Readings(TypedDict):
    """Shapes (batches, classes) and (flows,)."""

    links: list[LinkReadings]
    sent: NDArray[np.int64]
    drops: NDArray[np.int64]
    delivered_bytes: NDArray[np.int64]
    timeouts: NDArray[np.int64]
    retransmissions: NDArray[np.int64]
    flow_bytes: NDArray[np.int64]
    rtt: list[_Histogram]
    completions_s: list[NDArray[np.float64]]
    trace: TraceReadings | None
    packets: int
    events: int
    wall_s: float

def simulate(
    runs: Sequence[Run], *, jobs: int, progress: Callable[[float], None] | None = None
) -> list[Readings]: ...
