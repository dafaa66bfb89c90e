"""The draw: a scenario and a seed become flows. All randomness of the traffic is here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import CONGESTION_CONTROLS, Distribution, Scenario, Traffic
from forebay.workload.apportion import apportion, assign
from forebay.workload.model import Workload
from forebay.workload.streams import uniforms, word

_PS_PER_S = 1e12


def draw(scenario: Scenario, seed: int) -> Workload:
    """Return the flows of one replication.

    The same seed gives the same flows whatever the buffer, the goals or the measured
    window; a class's draws do not depend on the other classes, nor one field's on another's.

    Parameters
    ----------
    seed
        0 to 2**64 - 1; outside, ValueError.
    """
    parts = [_draw_class(group, index, seed) for index, group in enumerate(scenario.traffic)]
    columns: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    return Workload(
        **columns,
        congestion_controls=CONGESTION_CONTROLS,
        tie_break_seed=word(seed, "tie-break"),
    )


def _draw_class(group: Traffic, index: int, seed: int) -> dict[str, NDArray[Any]]:
    n = group.flows
    counts = apportion(n, group.shares)
    keys = uniforms(seed, "congestion-control", index, n)
    return {
        "traffic_class": np.full(n, index, dtype=np.int32),
        "congestion_control": assign(counts, CONGESTION_CONTROLS, keys),
        "rtt_ps": _picoseconds(group.rtt, uniforms(seed, "rtt", index, n)),
        "start_ps": _picoseconds(group.start, uniforms(seed, "start", index, n)),
        "segments": np.zeros(n, dtype=np.int64),
        "packet_bytes": np.full(n, group.packet, dtype=np.int32),
        "access_bps": np.full(n, group.access_rate, dtype=np.float64),
    }


def _picoseconds(spread: Distribution, u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return one draw for each uniform number; a wider spread never changes a flow's rank."""
    low, high = round(spread.low * _PS_PER_S), round(spread.high * _PS_PER_S)
    steps: NDArray[np.int64] = np.rint(u * (high - low)).astype(np.int64)
    return low + steps
