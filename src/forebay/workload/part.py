"""What one class adds to a workload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import MAX_PACKETS, ScenarioError

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
