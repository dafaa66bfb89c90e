"""A matrix as offered load: bit/s that come whatever the network does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.errors import entry
from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from forebay.scenario import Topology, Traffic
    from forebay.topology.adjacency import Adjacency
    from forebay.topology.graph import Floats

_WITHOUT_EFFECT = ("demand_scale", "demand_growth", "connection_rate", "connection_window")


def offered_bps(topology: Topology, adjacency: Adjacency) -> float | None:
    """Return the sum of all demands in bit/s; None if only their ratios are known.

    Raises
    ------
    ScenarioError
        A factor or a rate of connections without offered load; a unit without demands.
    """
    total = _total(topology, adjacency)
    if total is not None:
        return total * topology.demand_scale * topology.demand_growth
    for name in _WITHOUT_EFFECT:
        if name in topology.model_fields_set:
            hint = f"write {entry('topology.demand_total', '40 Gbit/s')}, or a demand_unit"
            raise refuse("has no effect: the demand has no unit", hint, name)
    return None


def _total(topology: Topology, adjacency: Adjacency) -> float | None:
    if topology.demand_total is not None:
        return float(topology.demand_total)
    own = not topology.demands and topology.demand_file is None
    unit = topology.demand_unit or (adjacency.demand_unit_bps if own else None)
    if topology.demand_unit is not None and not adjacency.demands:
        hint = f"write {entry('topology.demand_total', '40 Gbit/s')}"
        raise refuse("there is no matrix to give a unit", hint, "demand_unit")
    if unit is None or not adjacency.demands:
        return None
    return float(unit) * sum(each[2] for each in adjacency.demands if each[0] != each[1])


def takes_demand(group: Traffic) -> bool:
    """Whether a class carries a share of the offered load."""
    return getattr(group, "load", None) is not None


def connections(topology: Topology, packet_bytes: int, rtt_s: Floats) -> Floats | None:
    """Return the connections for each offered bit/s on paths of these round trips.

    None if neither their rate nor their window is given.
    """
    if topology.connection_rate is not None:
        return np.full(rtt_s.shape, 1.0 / float(topology.connection_rate))
    if topology.connection_window is not None:
        return rtt_s / (8.0 * packet_bytes * topology.connection_window)
    return None
