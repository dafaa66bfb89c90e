"""Slides 14 and 15: the network with a slow edge."""

from __future__ import annotations

from pathlib import Path

from forebay.reproduction import FORMULA, Progress, Reproduction, judge
from forebay.reproduction.papers.hisamatsu_2007 import runs

HERE = Path(__file__).resolve().parent
NOTES = [
    "13,974 connections, as printed. One steady state each: seeds change nothing. l_me's delay is "
    "0.1 ms where slide 14 prints 1 ms, which cannot give the delay printed beside it.",
]


def reproduce(
    seeds: int = 1, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Solve the network with both rules for the core's buffers."""
    small, large = (runs.numbers("slow", rule) for rule in runs.RULES)
    edge = runs.readings(runs.solved("slow", "traditional"), "edge")["utilization"]
    ours = {
        "delay": large["delay"],
        "core-small": small["largest"],
        "core-traditional": large["largest"],
        "throughput": small["throughput"] / large["throughput"],
        "rtt": small["rtt"] / large["rtt"],
        "edge": sum(each > 0.99 for each in edge) / len(edge),
    }
    title = (
        "Hisamatsu 2007, slides 14 and 15: slow edge, small against traditional buffers in the core"
    )
    return judge("hisamatsu-2007/slow-edge", title, HERE, ours, kind=FORMULA, notes=NOTES)
