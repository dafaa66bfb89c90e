"""The result of the draw: explicit flows, and their packets or files if they are drawn too.

`Workload` is the whole result; a `Part` is that of one class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import MAX_PACKETS, ScenarioError


@cache
def _names(of: type) -> tuple[str, ...]:
    """Return the fields of a class, which `dataclasses.fields` gathers anew at every call."""
    return tuple(field.name for field in fields(of))


def _arrays(part: Any) -> Iterator[NDArray[Any]]:
    values = (getattr(part, name) for name in _names(type(part)))  # type: ignore[arg-type]
    return (value for value in values if isinstance(value, np.ndarray))


class _ReadOnly:
    """A base of dataclasses whose arrays nobody may change."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for array in _arrays(self):
            array.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False)
class Packets(_ReadOnly):
    """Packets of open-loop flows: flow i has those from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    offsets : int64, shape (flows + 1,), for all flows; a TCP flow has no packets here.
    at_ps : int64, shape (packets,)
        Time at which the source hands the packet to its access link, from the start of the run;
        it never decreases within a flow. Packets with equal times are sent in this order.
    bytes : int32, shape (packets,), size on the link, headers included.
    """

    offsets: NDArray[np.int64]
    at_ps: NDArray[np.int64]
    bytes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.at_ps)


@dataclass(frozen=True, slots=True, eq=False)
class Sessions(_ReadOnly):
    """Files of users: user i fetches those from ``offsets[i]`` to ``offsets[i + 1]`` in order.

    The first file starts at the user's ``start_ps``, each later one ``think_ps`` after the end of
    the previous one, over a new TCP flow. There are more files than the run can transfer.

    Attributes
    ----------
    offsets : int64, shape (flows + 1,), for all flows; other flows than users have no files.
    segments : int64, shape (files,), packets of the file, at least one.
    think_ps : int64, shape (files,), pause after the file.
    """

    offsets: NDArray[np.int64]
    segments: NDArray[np.int64]
    think_ps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.segments)


@dataclass(frozen=True, slots=True, eq=False)
class RequestGroups(_ReadOnly):
    """Groups of flows that answer requests together: group g has ``first[g]`` to ``end[g]``.

    Each has an answer, in `Sessions`, to every request; its ``think_ps`` there is the time that the
    next answer takes to begin after its request has arrived. A request is asked ``think_ps[g]``
    after all answers to the one before it have arrived.

    Attributes
    ----------
    first, end : int64, shape (groups,), indices of flows.
    asked_ps : int64, shape (groups,), when the first request is asked.
    think_ps : for each group int64, shape (requests - 1,), pause after each request but the last.
    """

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    asked_ps: NDArray[np.int64]
    think_ps: tuple[NDArray[np.int64], ...]

    def __post_init__(self) -> None:
        _ReadOnly.__post_init__(self)
        for pauses in self.think_ps:
            pauses.setflags(write=False)


@dataclass(frozen=True, eq=False, slots=True)
class Periods(_ReadOnly):
    """When TCP flows send, flow after flow; a flow without a schedule has one on-time.

    Attributes
    ----------
    owner, number : int64, shape (on-times,), the flow, and the place among its on-times.
    on_ps, off_ps : int64, shape (on-times,), when it is switched on and off, from its start to its
        stop; `NEVER` if it is not.
    """

    owner: NDArray[np.int64]
    number: NDArray[np.int64]
    on_ps: NDArray[np.int64]
    off_ps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.owner)


@dataclass(frozen=True, slots=True, eq=False)
class Workload(_ReadOnly):
    """Read-only arrays with one entry for each flow, class after class. Times in picoseconds.

    Each user of sessions is one entry. Each short flow is one entry, in order of arrival.

    Attributes
    ----------
    traffic_class : int32, index into the scenario's ``traffic``.
    congestion_control : int32, index into ``congestion_controls``; without meaning, 0, for
        open-loop flows.
    rtt_ps, start_ps : int64, two-way propagation delay (0 for open-loop flows); start time since
        the start of the run.
    segments : int64, packets to send; 0 is unlimited, or given by ``packets`` or ``sessions``.
    packet_bytes : int32, size of a full packet, headers included.
    access_bps : float64, rate of the flow's access link, bit/s.
    access_group : int32; flows with the same number share one access link. From 0 without gaps.
    reverse : whether the data crosses the link in the reverse direction.
    periods : on-times of flows; None if no class has a schedule.
    stop_ps : int64, when the application of a flow without end stops, `NEVER` where it does not;
        None if none does. The packets of open-loop flows end before it.
    packets : of open-loop flows; None without such classes.
    sessions : of users and workers; None without such classes.
    requests : which workers answer together; None without such classes.
    congestion_controls : Linux names.
    tie_break_seed : from 0 to 2**64 - 1, for the engine's own random stream.
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
    stop_ps: NDArray[np.int64] | None = None
    packets: Packets | None = None
    sessions: Sessions | None = None
    requests: RequestGroups | None = None
    periods: Periods | None = None

    def __len__(self) -> int:
        return len(self.traffic_class)

    def without_own(self) -> Workload:
        """Return the flows only, so that their packets and files can be freed."""
        if (self.packets, self.sessions, self.requests) == (None, None, None):
            return self
        return replace(self, packets=None, sessions=None, requests=None)

    @property
    def array_bytes(self) -> int:
        """Memory of all arrays, bytes."""
        owned = (self.packets, self.sessions, self.periods)
        held = (self, *(own for own in owned if own is not None))
        return sum(array.nbytes for part in held for array in _arrays(part))

    def flows_of(self, traffic_class: int) -> int:
        """Return the number of entries of a class."""
        entries = self.slice_of(traffic_class)
        return int(entries.stop - entries.start)

    def slice_of(self, traffic_class: int) -> slice:
        """Return the slice of a class's entries."""
        first, end = np.searchsorted(self.traffic_class, (traffic_class, traffic_class + 1))
        return slice(int(first), int(end))


NEVER = 2**63 - 1
"""A time that does not come, in picoseconds."""

_MOST_DRAWN = 2 * MAX_PACKETS
"""The memory limit refuses larger expected counts long before they are drawn."""

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OwnPackets:
    """Packets of a class's flows, flow after flow; ``counts`` has one entry for each flow."""

    counts: _Ints
    at_ps: _Ints
    bytes: NDArray[np.int32]

    def only(self, kept: NDArray[np.bool_]) -> OwnPackets:
        """Return these packets alone, shape (packets,)."""
        flows = np.repeat(np.arange(len(self.counts)), self.counts)
        counts = np.bincount(flows[kept], minlength=len(self.counts))
        return OwnPackets(counts, self.at_ps[kept], self.bytes[kept])


@dataclass(frozen=True, slots=True)
class OwnPeriods:
    """On-times of a class's flows, flow after flow; ``counts`` has one entry for each flow."""

    counts: _Ints
    on_ps: _Ints
    off_ps: _Ints


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """Files of a class's users, user after user; ``counts`` has one entry for each user."""

    counts: _Ints
    segments: _Ints
    think_ps: _Ints


@dataclass(frozen=True, slots=True)
class OwnRequests:
    """Groups of a class's workers, one after the other, with the pauses of each."""

    workers: _Ints
    asked_ps: _Ints
    think_ps: list[_Ints]


@dataclass(frozen=True, slots=True)
class Part:
    """Flows of one class: entries of the workload's arrays, and their packets or files."""

    start_ps: _Ints
    rtt_ps: _Ints
    segments: _Ints
    congestion_control: NDArray[np.int32]
    packets: OwnPackets | None = None
    files: OwnFiles | None = None
    requests: OwnRequests | None = None
    stop_ps: _Ints | None = None
    periods: OwnPeriods | None = None

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def stops(self) -> _Ints:
        """When each flow stops; `NEVER` where it does not."""
        return np.full(len(self), NEVER) if self.stop_ps is None else self.stop_ps


class FlowColumns:
    """Columns of packets or files, collected in pieces and put into the order of the flows.

    Raises ScenarioError: there are far more entries than the scenario let expect.
    """

    def __init__(self, flows: int) -> None:
        self.counts: _Ints = np.zeros(flows, dtype=np.int64)
        self._pieces: list[tuple[NDArray[np.generic], ...]] = []
        self._total = 0

    def add(self, flows: _Ints, columns: tuple[NDArray[np.generic], ...]) -> None:
        """Add entries of some flows, in the order of the flows."""
        self._total += len(flows)
        check_drawn(self._total)
        self._pieces.append(columns)
        if len(flows):
            first = int(flows[0])
            counted = np.bincount(flows - first)
            self.counts[first : first + len(counted)] += counted

    def add_group(self, pieces: Iterable[tuple[_Ints, tuple[NDArray[np.generic], ...]]]) -> None:
        """Add pieces with entries of the same flows, and put them into the order of the flows."""
        given = list(pieces)
        flows = np.concatenate([flows for flows, _ in given])
        columns = tuple(map(np.concatenate, zip(*(columns for _, columns in given), strict=True)))
        if len(given) > 1 and len(flows) and flows.min() < flows.max():
            order = np.argsort(flows, kind="stable")
            flows, columns = flows[order], tuple(column[order] for column in columns)
        self.add(flows, columns)

    def joined(self) -> tuple[NDArray[np.generic], ...]:
        """Return the complete columns."""
        columns = [list(pieces) for pieces in zip(*self._pieces, strict=True)]
        self._pieces.clear()
        whole = []
        for pieces in columns:
            whole.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
            pieces.clear()
        return tuple(whole)


def check_drawn(entries: int) -> None:
    """Refuse more packets or files than a run may hold, before memory is allocated."""
    if entries > _MOST_DRAWN:
        raise ScenarioError("out-of-range.drawn", field="traffic", value=entries, most=_MOST_DRAWN)
