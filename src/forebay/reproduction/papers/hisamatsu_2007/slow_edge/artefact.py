"""Slides 14 and 15: the network with a slow edge."""

from __future__ import annotations

from pathlib import Path

from forebay.reproduction import FORMULA, Progress, Reproduction, judge, side_by_side
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
    ours = _numbers(())
    found = {"σ × 2.5, as fitted": ours, "σ × 1": _numbers(("topology.sigma_factor=1",))}
    title = (
        "Hisamatsu 2007, slides 14 and 15: slow edge, small against traditional buffers in the core"
    )
    return judge(
        "hisamatsu-2007/slow-edge", title, HERE, ours, kind=FORMULA, notes=NOTES,
        variants=None if quick else side_by_side(HERE, found, runs.SAYS),
    )  # fmt: skip


def _numbers(changes: tuple[str, ...]) -> dict[str, float]:
    small, large = (runs.numbers("slow", rule, changes) for rule in runs.RULES)
    edge = runs.readings(runs.solved("slow", "traditional", changes), "edge")["utilization"]
    few, many = (runs.by_hops("slow", rule, changes) for rule in runs.RULES)
    ratios = [few[hops] / many[hops] for hops in few if many.get(hops)]
    return {
        "delay": large["delay"],
        "core-small": small["largest"],
        "core-traditional": large["largest"],
        "throughput": small["throughput"] / large["throughput"],
        "rtt": small["rtt"] / large["rtt"],
        "edge": sum(each > 0.99 for each in edge) / len(edge),
        "core-load": small["utilization"] / large["utilization"],
        "hops": max(ratios, key=lambda ratio: abs(ratio - 1.0)),
    }
