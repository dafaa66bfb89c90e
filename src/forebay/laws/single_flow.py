"""A single long flow: the sawtooth of paper A, §2 and appendix B."""

from forebay.laws import assumptions, sawtooth
from forebay.laws.law import Law
from forebay.laws.quantities import finite
from forebay.scenario import Scenario


def _packets(scenario: Scenario) -> float | None:
    target = scenario.goals.utilization
    if target is None:
        return None
    return finite(sawtooth.buffer_for(target, scenario.bdp_packets))


LAW = Law(
    name="appenzeller-2004/single-flow",
    source="Appenzeller et al. 2004, §2 and appendix B, the idle stretch integrated as well",
    packets=_packets,
    utilization=lambda asked: float(sawtooth.utilization(asked.buffer_packets, asked.bdp_packets)),
    checks=(*assumptions.TCP_SAWTOOTHS, assumptions.one_flow, assumptions.long_enough),
)
