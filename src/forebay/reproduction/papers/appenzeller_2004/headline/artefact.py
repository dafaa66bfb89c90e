"""The abstract: two backbone links with a hundredth of the buffer or less."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
MOST_SEEDS = 2  # tens of thousands of flows average out within a run
RUNS = {
    "small": ("2.5 Gbit/s", 10_000, "0.01 bdp"),
    "full": ("2.5 Gbit/s", 10_000, "1 bdp"),
    "oc192": ("10 Gbit/s", 50_000, "10 Mbit"),
}
NOTES = [
    "Mean RTT 250 ms, packets of 1500 bytes: 10 Gbit/s then has the 2.5 Gbit of buffer that the "
    "paper's introduction names, and the smaller buffers are 521 and 833 packets.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run both links; ``quick`` once and 3 s."""
    seeds = 1 if quick else min(seeds, MOST_SEEDS)
    ours = {
        name: _utilization(name, seeds, jobs, part, quick)
        for name, part in each_with(progress, list(RUNS))
    }
    small, full = ours["small"], ours["full"]
    return judge(
        "appenzeller-2004/headline",
        "Appenzeller et al. 2004, abstract: 99 % less buffer, and 10 Mbit for 10 Gbit/s",
        HERE,
        {
            "oc48": small,
            "oc48-lost": full.value - small.value if full and small else None,
            "oc192": ours["oc192"],
        },
        notes=NOTES,
        picture=_picture(ours),
    )


def _utilization(
    name: str,
    seeds: int,
    jobs: int,
    progress: Progress | None,
    quick: bool,
) -> Any:
    rate, flows, size = RUNS[name]
    changes = [f"link.rate={rate}", f"traffic.0.flows={flows}", f"queue.size={size}"]
    if quick:
        changes.append("measure.duration=3 s")
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    return percent(outcome.links["bottleneck"].utilization)


def _picture(ours: dict[str, Any]) -> Picture:
    used = {name: math.nan if each is None else each.value for name, each in ours.items()}
    lines = [
        Line([1, 100], [used["small"], used["full"]], "2.5 Gbit/s, 10,000 flows", "dots"),
        Line([0.4], [used["oc192"]], "10 Gbit/s, 50,000 flows", "dots"),
        Line([1], [98.99], "2.5 Gbit/s, least by eq. 6", "dots"),
        Line([0.4], [97.93], "10 Gbit/s, least by eq. 6", "dots"),
    ]
    return Picture([Panel(lines, "buffer, % of bdp", "utilization, %", log="x")])
