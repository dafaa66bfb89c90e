"""The numbers in the paper's text that follow from others: sections I, II and III."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.reproduction import FORMULA, Progress, Reproduction, judge

HERE = Path(__file__).resolve().parent
VIDEO_BPS, PACKET_BITS = 1.3e6, 12_000


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate every number; needs no run."""
    return judge(
        "theagarajan-2006/text",
        "Theagarajan et al. 2006: the numbers in its text",
        HERE,
        numbers(),
        kind=FORMULA,
    )


def numbers() -> dict[str, float]:
    """The claims' numbers."""
    whole = float(forebay.laws.rule_of_thumb.buffer(40e9, 0.25))
    least = 0.010 * 21e6
    loads = [(7.6e6 + videos * VIDEO_BPS) / rate for videos, rate in enumerate((9e6, 10.5e6, 12e6))]
    return {
        "rule": whole / 1e9,
        "chips": math.ceil(whole / 36e6),
        "packet": 40 * 8 / 40e9 * 1e9,
        "million": whole / PACKET_BITS,
        "root": float(forebay.laws.sqrt_n.buffer(1e6, 10_000)),
        "bucket": least / 1e3,
        "bucket-packets": least / PACKET_BITS,
        "one-video": 100 * VIDEO_BPS / 21e6,
        "two-videos": 200 * VIDEO_BPS / 21e6,
        "access": 4 * 10e6 / 40 / 1e6,
        "non-bottleneck": 0.010 * 9e6 / PACKET_BITS,
        "load": 100 * max(loads, key=lambda load: abs(load - 0.85)),
    }
