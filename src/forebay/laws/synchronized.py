"""Synchronized flows need the same buffer as one flow (paper A, §3.1, eq. 1 to 3).

The sum of their windows is the window of a single flow that grows n times as fast, and
neither the buffer nor the utilization of `sawtooth` depends on the growth.
"""

from numpy.typing import ArrayLike

from forebay.laws import assumptions, single_flow
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law
from forebay.scenario import Scenario


def buffer(bdp: ArrayLike) -> Array:
    """B = 2 Tp C: the buffer that just never empties, for any n (eq. 3), in the unit of `bdp`."""
    return as_array(bdp)


def _packets(scenario: Scenario) -> float | None:
    if scenario.goals.utilization is None:
        return float(buffer(scenario.bdp_packets))
    return single_flow.LAW.packets(scenario)


LAW = Law(
    name="appenzeller-2004/synchronized",
    source="Appenzeller et al. 2004, §3.1, with the utilization of appendix B's fluid sawtooth",
    packets=_packets,
    utilization=single_flow.LAW.utilization,
    checks=(
        *assumptions.TCP_SAWTOOTHS,
        assumptions.synchronized_flows,
        assumptions.window_above_two,
        assumptions.long_enough,
    ),
)
