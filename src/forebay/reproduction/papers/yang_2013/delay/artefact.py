"""Section VI by simulation: a buffer of C lambda bounds the delay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forebay
from forebay.reproduction import Progress, Reproduction, each_with, judge
from forebay.reproduction.papers.yang_2013 import mix

HERE = Path(__file__).resolve().parent
LAMBDAS_MS = (0.5, 1, 2)
RTT_MS = 67  # of the runs for section VI
NOTES = [
    "The mix of section VIII at 67 ms with floor(C λ) packets. The longest wait is that of all "
    "replications.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run three buffers; ``quick`` measures 10 s."""
    numbers = {
        f"delay-{each:g}": _longest_ms(each, quick=quick, seeds=seeds, jobs=jobs, progress=report)
        for each, report in each_with(progress, LAMBDAS_MS)
    }
    title = "Yang et al. 2013, section VI: the longest wait with a buffer of C λ"
    return judge("yang-2013/delay", title, HERE, numbers, notes=NOTES)


def _longest_ms(lambda_ms: float, *, quick: bool, **how: Any) -> float:
    """Longest wait with a buffer of C λ, in milliseconds."""
    goal = f"goals.queue_delay={{maximum='{lambda_ms} ms'}}"
    scenario = forebay.load(mix.SCENARIO, [*mix.overrides(RTT_MS, quick), goal])
    packets = int(scenario.link.rate * lambda_ms * 1e-3 / (8 * scenario.packet))
    link = forebay.run(scenario.with_buffer(packets), **how).links["bottleneck"]
    return 1e3 * link.goal_metrics["queue_delay_maximum"].value
