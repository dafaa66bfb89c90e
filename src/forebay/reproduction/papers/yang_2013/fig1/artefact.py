"""Figure 1: the sum of n windows approaches the normal distribution."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
PROTOCOL = "cubic_beta_0_7"
DRAWS, PIECE = 100_000, 10_000
SKEWNESS = -1.0581  # of one such window, as derived in README.md
NOISE = 1.95 / math.sqrt(DRAWS)  # Kolmogorov: exceeded with probability 0.001
COLUMNS = ["flows", "distance", "expected", "skewness", "deviation", "eq. 6"]
NOTES = [
    "Independent flows at random places of their epochs (no simulation): CUBIC'', the most skewed "
    "of the five, so the slowest to become normal.",
    "distance: largest gap between the distribution of W and the normal of its mean and deviation. "
    "Expected: |skewness| / (6 sqrt(2 π n)), the first term of Edgeworth's series.",
    f"A row is in its band if the distance is within ±{NOISE:.4f} of that (noise of {DRAWS} draws "
    "at 0.1 %), and if the deviation over the mean is within 1 % of eq. 6.",
    "Flows that march in step would not become normal; only a simulation can show that.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Draw the sums; the draws are always the same, so ``seeds`` and ``jobs`` are ignored."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    bdp = stated["rate_bps"] * stated["rtt_s"] / 8 / stated["packet_bytes"]
    made, panels = [], []
    for place, n in enumerate(stated["flows"], start=1):
        total = _sum(n, bdp, stated["rtt_s"])
        made.append(_row(n, total))
        panels.append(_panel(n, total))
        if progress is not None:
            progress(place / len(stated["flows"]))
    return Reproduction(
        artefact="yang-2013/fig1",
        title="Yang et al. 2013, Figure 1: the sum of n windows becomes normal",
        columns=COLUMNS,
        rows=[cells for cells, _ in made],
        reasons=[reason for _, reason in made],
        checks=[Check(OURS, not reason, published=False) for _, reason in made],
        notes=NOTES,
        drawn=("distance", "expected"),
        unit="distance from the normal",
        picture=Picture(panels, columns=2),
    )


def _sum(n: int, bdp: float, rtt: float) -> Any:
    """Draws of W, in packets, with mean BDP; in pieces, to limit memory."""
    laws = forebay.laws.heterogeneous
    w_max = bdp / n / float(laws.PROTOCOLS[PROTOCOL].mean())
    pieces = [
        laws.sample_sum(PROTOCOL, n, PIECE, w_max=w_max, rtt=rtt, seed=seed)
        for seed in range(DRAWS // PIECE)
    ]
    return np.concatenate(pieces)


def _row(n: int, total: Any) -> tuple[list[Any], str]:
    mean, deviation = float(total.mean()), float(total.std())
    standard = np.sort((total - mean) / deviation)
    distance = _distance(standard)
    expected = abs(SKEWNESS) / (6.0 * math.sqrt(2.0 * math.pi * n))
    spread, law = deviation / mean, float(_value()) / math.sqrt(n)
    reason = ""
    if abs(distance - expected) > NOISE:
        reason = f"distance {distance:.4f}, expected {expected:.4f} ±{NOISE:.4f}"
    elif abs(spread / law - 1.0) > 0.01:
        reason = f"deviation over mean {spread:.5f}, eq. 6 {law:.5f}"
    return [n, distance, expected, float((standard**3).mean()), spread, law], reason


def _value() -> Any:
    return forebay.laws.heterogeneous.characteristic_value(PROTOCOL)


def _distance(standard: Any) -> float:
    """Kolmogorov-Smirnov distance of sorted standardized draws from the normal."""
    normal = forebay.laws.heterogeneous.probability(standard)
    steps = np.arange(len(standard) + 1) / len(standard)
    return float(max(np.max(steps[1:] - normal), np.max(normal - steps[:-1])))


def _panel(n: int, total: Any) -> Panel:
    density, edges = np.histogram(total, bins=60, density=True)
    middles = (edges[1:] + edges[:-1]) / 2.0
    fit = NormalDist(float(total.mean()), float(total.std()))
    return Panel(
        [
            Line(middles.tolist(), density.tolist(), "sum of n windows", "bars"),
            Line(middles.tolist(), [fit.pdf(x) for x in middles], "normal"),
        ],
        "W, packets",
        "density",
        title=f"{n} flows",
    )
