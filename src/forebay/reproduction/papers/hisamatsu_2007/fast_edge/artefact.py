"""Slides 16 to 18: the network with a fast edge."""

from __future__ import annotations

from pathlib import Path

from forebay.reproduction import FORMULA, Progress, Reproduction, judge, side_by_side
from forebay.reproduction.papers.hisamatsu_2007 import runs

HERE = Path(__file__).resolve().parent
NOTES = [
    "52,394 connections, as printed. One steady state each: seeds change nothing. Core: plain "
    "means over its 34 directed links.",
]


def reproduce(
    seeds: int = 1, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Solve the network with both rules for the core's buffers."""
    ours = _numbers(())
    found = {"σ × 2.5, as fitted": ours, "σ × 1": _numbers(("topology.sigma_factor=1",))}
    title = (
        "Hisamatsu 2007, slides 16 to 18: fast edge, small against traditional buffers in the core"
    )
    return judge(
        "hisamatsu-2007/fast-edge", title, HERE, ours, kind=FORMULA, notes=NOTES,
        variants=None if quick else side_by_side(HERE, found, runs.SAYS),
    )  # fmt: skip


def _numbers(changes: tuple[str, ...]) -> dict[str, float]:
    got = {rule: runs.numbers("fast", rule, changes) for rule in runs.RULES}
    small, large = (got[rule] for rule in runs.RULES)
    ours = {"delay": large["delay"]}
    for rule, each in got.items():
        ours |= {f"core-{rule}": each["utilization"], f"loss-{rule}": each["loss"]}
        ours |= {f"throughput-{rule}": each["throughput"], f"rtt-{rule}": each["rtt"]}
    ours |= {
        "order-core": small["utilization"] / large["utilization"],
        "order-loss": small["loss"] / large["loss"],
        "order-throughput": small["throughput"] / large["throughput"],
        "order-rtt": large["rtt"] / small["rtt"],
    }
    return ours
