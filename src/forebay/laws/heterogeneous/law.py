"""Paper D's inequalities read off a scenario: any mix of protocols, utilization and drops.

The goal for the utilization is taken as tau, as the paper takes it. Eq. 9 lets the mean of W stand
at BDP + B, a full buffer, which no mean can: the buffer is needed, not enough. Eq. 6 of paper A
(`utilization`), with the mean in the middle of the buffer, asks for a good two times as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.laws import assumptions
from forebay.laws.answer import Law
from forebay.laws.heterogeneous.constraints import (
    for_utilization,
    for_utilization_and_drops,
    probability_of_full_link,
)
from forebay.laws.heterogeneous.mix import mixed
from forebay.laws.heterogeneous.protocols import PROTOCOLS
from forebay.laws.quantities import finite, path_window

if TYPE_CHECKING:
    from forebay.scenario import Scenario

DROPS_HOLD_WITH = 0.99
"""rho, where a scenario bounds the loss rate without saying how surely: the paper's own."""


def flows_by_protocol(scenario: Scenario) -> dict[str, float]:
    """How many flows run each congestion control."""
    flows: dict[str, float] = {}
    for group in scenario.persistent:
        for name, share in group.shares.items():
            flows[name] = flows.get(name, 0.0) + group.flows * share
    return flows


def _value(scenario: Scenario) -> float | None:
    """a of the scenario's mix; None where a protocol has no growth function.

    w_max is read as the path's window over its share of the peak, about 0.9 for those two
    protocols whose a depends on it at all, and hardly.
    """
    flows = flows_by_protocol(scenario)
    if not flows.keys() <= PROTOCOLS.keys():
        return None
    return float(mixed(flows, path_window(scenario) / 0.9, float(scenario.mean_rtt)))


def _packets(scenario: Scenario) -> float | None:
    a, used, phi = _value(scenario), scenario.goals.utilization, scenario.goals.loss_rate
    if a is None or used is None:
        return None
    tau = used if used.probability is None else used.probability
    bdp, n = scenario.bdp_packets, scenario.n_flows
    if phi is None:
        return finite(for_utilization(bdp, a, n, tau))
    rho = DROPS_HOLD_WITH if phi.probability is None else phi.probability
    return finite(for_utilization_and_drops(bdp, a, n, tau, phi, rho))


def _utilization(scenario: Scenario) -> float | None:
    a = _value(scenario)
    if a is None:
        return None
    given = probability_of_full_link(
        scenario.buffer_packets, scenario.bdp_packets, a, scenario.n_flows
    )
    return float(np.asarray(given))


def _known_protocols(scenario: Scenario) -> str | None:
    unknown = ", ".join(sorted(flows_by_protocol(scenario).keys() - PROTOCOLS.keys()))
    return f"congestion control {unknown}: no growth function is known" if unknown else None


LAW = Law(
    name="yang-2013/utilization",
    source="Yang, Zhang, Xu 2013, eq. 7, inequality 14, one-sided z (needed, not enough)",
    packets=_packets,
    utilization=_utilization,
    checks=(
        assumptions.long_lived,
        assumptions.drop_tail,
        _known_protocols,
        assumptions.congested,
        assumptions.window_unlimited,
        assumptions.settled,
        assumptions.enough_flows,
        assumptions.window_above_two,
    ),
)
