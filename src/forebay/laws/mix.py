"""Long and short flows on one link: n is the number of long flows only (paper A, §5.1.3).

The short flows are more aggressive and get their offered load; the long flows get the rest. The
buffer is that of the long flows, B = RTT C / sqrt(n) and eq. 6, where C is the whole link, as in
the paper. The paper's figures have short flows for a fifth of the link.
"""

from forebay.laws import assumptions, utilization
from forebay.laws.assumptions import DESYNCHRONIZED
from forebay.laws.law import Law
from forebay.laws.quantities import LONG_OR_SHORT, long_and_short, short_share
from forebay.scenario import Scenario
from forebay.words import Fact

TRIED = 0.2
"""Share of the link that the short flows in Figures 13 and 14 offer."""


def as_in_the_paper(scenario: Scenario) -> Fact | None:
    """The load of short flows is at most that in the paper."""
    share = short_share(scenario)
    if share <= TRIED + 1e-9:
        return None
    return Fact("broken.short-share", percent=100 * share, tried=100 * TRIED)


def others(scenario: Scenario) -> Fact | None:
    """There are only long and short TCP flows."""
    if {t.kind for t in scenario.crossing} <= LONG_OR_SHORT:
        return None
    return Fact("broken.long-or-short")


LAW = Law(
    name="appenzeller-2004/mix",
    source="Appenzeller et al. 2004, §5.1.3: eq. 6 with the long flows alone as n",
    packets=lambda asked: utilization.LAW.packets(asked) if long_and_short(asked) else None,
    utilization=lambda asked: utilization.LAW.utilization(asked) if long_and_short(asked) else None,
    checks=(
        others,
        as_in_the_paper,
        *(check for check in DESYNCHRONIZED if check is not assumptions.long_lived),
    ),
)
