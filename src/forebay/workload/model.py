"""The draw's result: explicit flows, and the packets or files of those that have their own.

`Workload` is the whole; a `Part` is what one class adds to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import MAX_PACKETS, ScenarioError


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
    it ended, over a new TCP flow. There are more than any engine can use before the run ends.

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

    @property
    def array_bytes(self) -> int:
        """Memory of all arrays, bytes."""
        held = (self, *(own for own in (self.packets, self.sessions) if own is not None))
        arrays = (getattr(part, field.name) for part in held for field in fields(part))
        return sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))

    def flows_of(self, traffic_class: int) -> int:
        """Return how many entries a class has."""
        entries = self.slice_of(traffic_class)
        return int(entries.stop - entries.start)

    def slice_of(self, traffic_class: int) -> slice:
        """Return where a class's entries lie."""
        first, end = np.searchsorted(self.traffic_class, (traffic_class, traffic_class + 1))
        return slice(int(first), int(end))


_MOST_DRAWN = 2 * MAX_PACKETS
"""Memory refuses what is expected to be more long before it is drawn."""

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


class FlowColumns:
    """Columns of what flows own, gathered piece by piece and put in the order of the flows.

    Raises
    ------
    ScenarioError
        There is far more than was expected when the scenario was read.
    """

    def __init__(self, flows: int) -> None:
        self.counts: _Ints = np.zeros(flows, dtype=np.int64)
        self._pieces: list[tuple[NDArray[np.generic], ...]] = []
        self._total = 0

    def add(self, flows: _Ints, columns: tuple[NDArray[np.generic], ...]) -> None:
        """Take entries of some flows, in the order of the flows."""
        self._total += len(flows)
        check_drawn(self._total)
        self._pieces.append(columns)
        if len(flows):
            first = int(flows[0])
            counted = np.bincount(flows - first)
            self.counts[first : first + len(counted)] += counted

    def add_group(self, pieces: Iterable[tuple[_Ints, tuple[NDArray[np.generic], ...]]]) -> None:
        """Take pieces that each hold entries of the same flows, and put flow behind flow."""
        given = list(pieces)
        flows = np.concatenate([flows for flows, _ in given])
        columns = tuple(map(np.concatenate, zip(*(columns for _, columns in given), strict=True)))
        if len(given) > 1 and len(flows) and flows.min() < flows.max():
            order = np.argsort(flows, kind="stable")
            flows, columns = flows[order], tuple(column[order] for column in columns)
        self.add(flows, columns)

    def joined(self) -> tuple[NDArray[np.generic], ...]:
        """Return each column whole."""
        columns = [list(pieces) for pieces in zip(*self._pieces, strict=True)]
        self._pieces.clear()
        whole = []
        for pieces in columns:
            whole.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
            pieces.clear()
        return tuple(whole)


def check_drawn(entries: int) -> None:
    """Refuse more packets or files than a run may hold, before there is memory for them."""
    if entries > _MOST_DRAWN:
        wrong = f"one class draws {entries} datagrams or files, above the most, {_MOST_DRAWN}"
        hint = "write a lower rate, or a shorter measure.duration"
        raise ScenarioError("out-of-range", wrong, hint, field="traffic")
