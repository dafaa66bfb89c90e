"""Section 5.1.4: on an uncongested link a long flow gets 1/n with a buffer of bdp/sqrt(n)."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
SHARES = (4, 16, 64)  # n: the flow may take C/n
STEPS = (0.25, 1.0)  # multiples of bdp/sqrt(n)
NOTES = ["The long flow alone has n = 1; n is the share that it may take, not a number of flows."]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every share with the buffer and with a quarter of it; ``quick`` twice."""
    seeds = min(seeds, 2) if quick else seeds
    points = [(n, step) for n in SHARES for step in STEPS]
    found = {
        point: _share(*point, seeds, jobs, part) for point, part in each_with(progress, points)
    }
    return judge(
        "appenzeller-2004/one-nth",
        "Appenzeller et al. 2004, section 5.1.4: one long flow on an uncongested link",
        HERE,
        {
            "enough": min(found[n, 1.0] * n for n in SHARES),
            "needed": max(found[n, 0.25] * n for n in SHARES),
            "penalized": found[64, 1.0] / found[4, 1.0],
        },
        notes=NOTES,
        picture=_picture(found),
    )


def _share(n: int, step: float, seeds: int, jobs: int, progress: Progress | None) -> float:
    """Throughput of the long flow over the rate of the link."""
    size = f"queue.size={step / math.sqrt(n)} bdp"
    scenario = forebay.load(HERE / "scenario.toml", [size])
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    got = outcome.classes[0].throughput_bps
    return math.nan if got is None else got.value / scenario.link.rate


def _picture(found: dict[tuple[int, float], float]) -> Picture:
    lines = [
        Line(SHARES, [100 * found[n, step] for n in SHARES], f"{step:g} × bdp/√n") for step in STEPS
    ]
    lines.append(Line(SHARES, [100 / n for n in SHARES], "1/n", "dashes"))
    return Picture([Panel(lines, "n", "throughput of the long flow, % of the link", log="xy")])
