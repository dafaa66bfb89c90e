"""The draw's result: explicit flows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Arrays with one entry a flow, class after class, read-only. Times in picoseconds.

    Attributes
    ----------
    traffic_class : int32
        Index into the scenario's ``traffic``.
    congestion_control : int32
        Index into ``congestion_controls``.
    rtt_ps, start_ps : int64
        Two-way propagation delay; start from the beginning of the run.
    segments : int64
        Packets to send; 0 means without end.
    packet_bytes : int32
        Size of a full packet, headers included.
    access_bps : float64
        Rate of the flow's own link, bit/s.
    congestion_controls : tuple of str
        Linux names.
    tie_break_seed : int
        From 0 to 2**64 - 1, for the engine's own random stream.
    """

    traffic_class: NDArray[np.int32]
    congestion_control: NDArray[np.int32]
    rtt_ps: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    segments: NDArray[np.int64]
    packet_bytes: NDArray[np.int32]
    access_bps: NDArray[np.float64]
    congestion_controls: tuple[str, ...]
    tie_break_seed: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.traffic_class)
