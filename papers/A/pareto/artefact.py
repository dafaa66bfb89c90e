"""Section 5.1.4 of paper A: flows of Pareto length keep an OC3 full with 165 packets."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import forebay
from forebay.report import Reproduction, judge, percent

HERE = Path(__file__).resolve().parent
USERS, FILE_BITS, THINK_S, PACKETS = 200, 100 * 12_000, 0.5, 165
NOTES = [
    "Flows at once: users less those who think, by Little's law (files ended a second times the "
    "mean pause).",
]


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Run the one set-up; ``quick`` measures 20 s."""
    changes = ["measure.warmup=10 s", "measure.duration=20 s"] if quick else []
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    goodput = outcome.classes[0].goodput_bps
    flows = math.nan if goodput is None else USERS - goodput.value / FILE_BITS * THINK_S
    return judge(
        "A.pareto",
        "Paper A, section 5.1.4: Pareto flow lengths on an OC3",
        HERE,
        {
            "utilization": percent(outcome.links["bottleneck"].utilization),
            "flows": flows,
            "small-multiple": PACKETS * math.sqrt(flows) / scenario.bdp_packets,
        },
        notes=NOTES,
    )
