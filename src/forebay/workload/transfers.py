"""Draw of transfers: those of a table, or sizes of a distribution at a Poisson process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import Transfers
from forebay.scenario.transfers import TransferTable
from forebay.workload.drawing import control_names, one_by_one, rtts
from forebay.workload.model import (
    Part,
)
from forebay.workload.streams import (
    poisson_arrivals,
    uniforms,
)

_Ints = NDArray[np.int64]


def transfers(group: Transfers, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Return a table's transfers, each row an entry, or those that arrive in [0, end)."""
    table = group.table
    if table is not None:
        start, sizes = table.start_ps, table.size_bytes
    else:
        start = poisson_arrivals(
            seed, "arrival", index, group.arrivals_per_second(link_rate), end_ps
        )
        sizes = _sizes(group, uniforms(seed, "length", index, len(start)))
    n = len(start)
    drawn = rtts(group, index, seed, n)
    rtt = drawn if table is None or table.rtt_ps is None else table.rtt_ps
    control = one_by_one(group, uniforms(seed, "congestion-control", index, n))
    return Part(
        start_ps=start,
        rtt_ps=rtt,
        segments=-(-sizes // group.payload),
        congestion_control=control if table is None else _controls(group, table, control),
    )


def _sizes(group: Transfers, u: NDArray[np.float64]) -> _Ints:
    """Return bytes by the inverse of the distribution function."""
    assert group.size is not None, "transfers without a table are drawn"
    sizes, shares = map(np.array, zip(*group.size.points, strict=True))
    drawn = np.ceil(np.interp(u, shares, sizes))
    whole: _Ints = np.maximum(drawn, 1.0).astype(np.int64)
    return whole


def _controls(
    group: Transfers, table: TransferTable, default: NDArray[np.int32]
) -> NDArray[np.int32]:
    names = table.texts.get("congestion_control", ())
    if not any(names):
        return default
    place = {name: number for number, name in enumerate(control_names([group]))}
    own = np.array([place.get(name, -1) for name in names], dtype=np.int32)
    return np.where(own < 0, default, own)
