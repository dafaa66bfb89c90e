"""Section 5.1.4: flows of Pareto length keep an OC3 full with 165 packets."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import Progress, Reproduction, judge

HERE = Path(__file__).resolve().parent
USERS, FILE_BITS, THINK_S, PACKETS = 200, 100 * 12_000, 0.5, 165
NOTES = [
    "Flows at once: users less those who think, by Little's law (files ended a second times the "
    "mean pause).",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run the only set-up; ``quick`` measures 20 s."""
    changes = ["measure.warmup=10 s", "measure.duration=20 s"] if quick else []
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    goodput = outcome.classes[0].goodput_bps
    flows = math.nan if goodput is None else USERS - goodput.value / FILE_BITS * THINK_S
    used = percent(outcome.links["bottleneck"].utilization)
    return judge(
        "appenzeller-2004/pareto",
        "Appenzeller et al. 2004, section 5.1.4: Pareto flow lengths on an OC3",
        HERE,
        {
            "utilization": used,
            "flows": flows,
            "small-multiple": PACKETS * math.sqrt(flows) / scenario.bdp_packets,
        },
        notes=NOTES,
        picture=_picture(math.nan if used is None else used.value, flows, scenario.bdp_packets),
    )


def _picture(used: float, flows: float, bdp: float) -> Picture:
    sizes = list(range(20, 401, 10))
    law = [100 * float(forebay.laws.utilization.utilization(size, bdp, flows)) for size in sizes]
    lines = [
        Line(sizes, law, "eq. 6 with our number of flows"),
        Line([PACKETS], [used], "ours", "dots"),
        Line([PACKETS], [99], "published", "dots"),
    ]
    return Picture([Panel(lines, "buffer, packets", "utilization, %")])
