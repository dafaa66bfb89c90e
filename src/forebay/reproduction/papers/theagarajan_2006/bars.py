"""Error bars of Figures 4 and 7: the deviation of TCP's throughput in readings of 10 s.

The paper reads one run of ten minutes every ten seconds. Here each reading is a replication of its
own, which has the same deviation and no correlation with the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import forebay

SECONDS = 10
READINGS = 60
QUICK_READINGS = 20


def deviation(scenario: forebay.Scenario, tcp: Sequence[int], *, quick: bool, jobs: int) -> float:
    """Return the standard deviation of the classes' goodput together, bit/s."""
    from scipy.stats import t

    short = scenario.replace({"measure.duration": f"{SECONDS} s"})
    readings = QUICK_READINGS if quick else READINGS
    classes = forebay.run(short, seeds=readings, jobs=jobs).classes
    variances = []
    for place in tcp:
        goodput = classes[place].goodput_bps
        assert goodput and goodput.low is not None and goodput.high is not None
        half = (goodput.high - goodput.low) / 2
        variances.append((half / t.ppf(0.975, goodput.n - 1)) ** 2 * goodput.n)
    return math.sqrt(sum(variances))
