"""The draw's result: explicit flows, and the packets or files of those that have their own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _freeze(part: Any) -> None:
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False)
class Packets:
    """Packets of open-loop flows: flow i has those from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    offsets : int64, shape (flows + 1,)
        Over all flows of the workload; a flow that runs TCP has none.
    at_ps : int64, shape (packets,)
        When the source hands the packet to its access link, from the beginning of the run; within
        a flow never falling. Packets of equal times go in this order.
    bytes : int32, shape (packets,)
        Size on the link, headers included.
    """

    offsets: NDArray[np.int64]
    at_ps: NDArray[np.int64]
    bytes: NDArray[np.int32]

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.at_ps)


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """Files of users: user i fetches those from ``offsets[i]`` to ``offsets[i + 1]`` in order.

    The first starts at the user's ``start_ps``; each other one ``think_ps`` after the one before
    it ended, over a new TCP flow. There are more than any engine can play before the run ends.

    Attributes
    ----------
    offsets : int64, shape (flows + 1,)
        Over all flows of the workload; what is no user has none.
    segments : int64, shape (files,)
        Packets of the file, at least one.
    think_ps : int64, shape (files,)
        Pause after the file.
    """

    offsets: NDArray[np.int64]
    segments: NDArray[np.int64]
    think_ps: NDArray[np.int64]

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.segments)


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Arrays with one entry a flow, class after class, read-only. Times in picoseconds.

    A user of sessions is one entry; a short flow is one entry, in order of arrival.

    Attributes
    ----------
    traffic_class : int32
        Index into the scenario's ``traffic``.
    congestion_control : int32
        Index into ``congestion_controls``; of open-loop flows 0, without meaning.
    rtt_ps, start_ps : int64
        Two-way propagation delay (of open-loop flows 0); start from the beginning of the run.
    segments : int64
        Packets to send; 0 means without end, or as ``packets`` and ``sessions`` say.
    packet_bytes : int32
        Size of a full packet, headers included.
    access_bps : float64
        Rate of the flow's access link, bit/s.
    access_group : int32
        Flows with the same number share one access link. Numbered from 0 without gaps.
    reverse : bool
        Whether the data crosses the link the other way.
    packets : Packets or None
        Of open-loop flows; None where there are no such classes.
    sessions : Sessions or None
        Of users; None where there are none.
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
    access_group: NDArray[np.int32]
    reverse: NDArray[np.bool_]
    congestion_controls: tuple[str, ...]
    tie_break_seed: int
    packets: Packets | None = None
    sessions: Sessions | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.traffic_class)

    def without_own(self) -> Workload:
        """Return the flows alone, so that what they send can go from memory."""
        return replace(self, packets=None, sessions=None)

    def flows_of(self, traffic_class: int) -> int:
        """Return how many entries a class has."""
        entries = self.slice_of(traffic_class)
        return int(entries.stop - entries.start)

    def slice_of(self, traffic_class: int) -> slice:
        """Return where a class's entries lie."""
        first, end = np.searchsorted(self.traffic_class, (traffic_class, traffic_class + 1))
        return slice(int(first), int(end))
