from collections.abc import Callable, Sequence
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
        initial_window: int | None = None,
        sack: bool | None = None,
        delayed_ack: bool | None = None,
        min_rto_ps: int | None = None,
        max_window: int | None = None,
    ) -> Profile: ...

@final
class Run:
    def __new__(
        cls,
        *,
        rate_bps: float,
        buffer_packets: int,
        profiles: Sequence[Profile],
        traffic_class: NDArray[np.int32],
        congestion_control: NDArray[np.int32],
        rtt_ps: NDArray[np.int64],
        start_ps: NDArray[np.int64],
        segments: NDArray[np.int64],
        packet_bytes: NDArray[np.int32],
        access_bps: NDArray[np.float64],
        warmup_ps: int,
        window_ps: int,
        batches: int,
    ) -> Run: ...

class Readings(TypedDict):
    busy_s: NDArray[np.float64]
    queue_packet_s: NDArray[np.float64]
    delay_sum_s: NDArray[np.float64]
    queue_s: NDArray[np.float64]
    queue_bin_width: int
    arrivals: NDArray[np.int64]
    drops: NDArray[np.int64]
    sent_bytes: NDArray[np.int64]
    delivered_bytes: NDArray[np.int64]
    timeouts: NDArray[np.int64]
    retransmissions: NDArray[np.int64]
    flow_bytes: NDArray[np.int64]
    delay: tuple[NDArray[np.float64], NDArray[np.float64]]
    rtt: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
    completions_s: list[NDArray[np.float64]]
    packets: int
    events: int
    wall_s: float

def simulate(
    runs: Sequence[Run], *, jobs: int, progress: Callable[[float], None] | None = None
) -> list[Readings]: ...
