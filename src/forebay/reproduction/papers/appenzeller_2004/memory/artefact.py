"""The arithmetic on buffers, memory chips and flows: sections 1.1, 1.3, 3 and 5.2."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.reproduction import FORMULA, Progress, Reproduction, judge

HERE = Path(__file__).resolve().parent
MBIT, GBIT = 1e6, 1e9
SRAM_BITS, DRAM_BITS, EMBEDDED_BITS = 36 * MBIT, 1 * GBIT, 256 * MBIT
ROWS = (  # Figure 15: packets of 1500 bytes, and the printed RAM, Mbit
    (64, 1), (129, 2), (258, 4), (387, 8), (46, 1), (91, 2), (182, 4), (273, 4),
    (37, 0.5), (74, 1), (148, 2), (222, 4), (32, 0.5), (64, 1), (128, 2), (192, 4),
)  # fmt: skip


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate every number; needs no run."""
    return judge(
        "appenzeller-2004/memory",
        "Appenzeller et al. 2004, sections 1, 3 and 5.2: what a buffer is in memory chips",
        HERE,
        numbers(),
        kind=FORMULA,
    )


def numbers() -> dict[str, float]:
    """The claims' numbers, from the rule of thumb and the memory chips that the paper names."""
    rule = forebay.laws.rule_of_thumb.buffer
    line_card = float(rule(40 * GBIT, 0.25))
    return {
        "oc192": float(rule(10 * GBIT, 0.25)) / GBIT,
        "oc768": line_card / GBIT,
        "bytes": line_card / 8 / GBIT,
        "sram": math.ceil(line_card / SRAM_BITS),
        "dram": math.ceil(line_card / DRAM_BITS),
        "packet": 40 * 8 / (40 * GBIT) * 1e9,
        "one-chip": 0.02 * line_card / EMBEDDED_BITS,
        "modems": 2.5 * GBIT / 56e3,
        "rule": math.floor(float(rule(155 * MBIT, 0.1)) / 12_000),
        "ram": sum(ram(packets) == printed for packets, printed in ROWS),
    }


def ram(packets: int) -> float:
    """Smallest memory of a power of two, in Mbit of 2^20 bits, that holds this many packets."""
    return 2.0 ** math.ceil(math.log2(packets * 12_000 / 2**20))
