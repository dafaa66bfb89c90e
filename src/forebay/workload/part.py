"""What one class adds to a workload."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OwnPackets:
    """Packets of a class's flows, flow after flow; ``counts`` has one entry a flow."""

    counts: _Ints
    at_ps: _Ints
    bytes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """Files of a class's users, user after user; ``counts`` has one entry a user."""

    counts: _Ints
    segments: _Ints
    think_ps: _Ints


@dataclass(frozen=True, slots=True)
class Part:
    """Flows of one class: entries of the workload's arrays, and what they own."""

    start_ps: _Ints
    rtt_ps: _Ints
    segments: _Ints
    congestion_control: NDArray[np.int32]
    packets: OwnPackets | None = None
    files: OwnFiles | None = None

    def __len__(self) -> int:
        return len(self.start_ps)
