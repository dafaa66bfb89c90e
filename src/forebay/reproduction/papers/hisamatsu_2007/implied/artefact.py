"""What slides 16 to 19 imply: the number of core links, and the loss that slide 9 needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forebay.reproduction import FORMULA, Progress, Reproduction, judge

FloatArray = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
CONNECTIONS, CORE_MBPS = 52_394, 10_000.0
HOPS, CORE_LINKS = (4, 6, 7, 8, 9), np.array([0.0, 0.0, 1.0, 2.0, 3.0])
DELAYS_MS = np.array([4.4, 4.8, 4.82, 4.84, 4.86])
"""Slide 16: two l_ee and two l_me; from 6 hops on two l_cm; a link of 0.01 ms for each l_cc."""
ROUNDINGS = 4000
PACKETS_BITS = (4000, 8000, 12_000, 72_000)
NOTES = [
    "Shares of connections by hops from five equations: they add up to one, have the mean delay of "
    "slide 16 and both mean throughputs of slide 18 with slide 19's, and load the core with the "
    "utilizations of slide 17 over the same number of links. Loss from slide 9 at slide 18's round "
    "trips, packets of 1000 B, timeouts by Padhye et al. 1998.",
]


@dataclass(frozen=True, slots=True)
class Slides:
    """The printed numbers: delay in ms, throughputs in Mbit/s, by hops in the order of `HOPS`."""

    delay: float = 4.829
    mean_small: float = 9.29
    mean_traditional: float = 9.23
    used_small: float = 0.638
    used_traditional: float = 0.968
    small: tuple[float, ...] = (160.32, 67.33, 3.29, 2.41, 2.15)
    traditional: tuple[float, ...] = (141.94, 47.04, 7.10, 3.33, 2.32)


RTT_S = {"small": 16.72e-3, "traditional": 23.93e-3}
LOSS = {"small": 0.001973, "traditional": 0.004195}
PRINTED = Slides()


def shares(slides: Slides) -> FloatArray:
    """Return the shares of connections by hops, shape (5,)."""
    load = CORE_LINKS * (
        np.array(slides.small) / slides.used_small
        - np.array(slides.traditional) / slides.used_traditional
    )
    left = np.array([np.ones(5), DELAYS_MS, slides.small, slides.traditional, load])
    right = np.array([1.0, slides.delay, slides.mean_small, slides.mean_traditional, 0.0])
    return np.linalg.solve(left, right)


def core_links(slides: Slides) -> float:
    """Return the number of directed core links: their load over what one carries."""
    load = float(shares(slides) @ (CORE_LINKS * np.array(slides.small)))
    return CONNECTIONS * load / (slides.used_small * CORE_MBPS)


def over_roundings(count: int = ROUNDINGS) -> FloatArray:
    """Return the core links for numbers drawn from what rounds to the printed ones."""
    chance = np.random.default_rng(1)

    def near(value: float, digits: int) -> float:
        half = 0.5 * 10.0**-digits
        return value + float(chance.uniform(-half, half))

    def drawn() -> Slides:
        return Slides(
            near(PRINTED.delay, 3),
            near(PRINTED.mean_small, 2),
            near(PRINTED.mean_traditional, 2),
            near(PRINTED.used_small, 3),
            near(PRINTED.used_traditional, 3),
            tuple(near(each, 2) for each in PRINTED.small),
            tuple(near(each, 2) for each in PRINTED.traditional),
        )

    return np.array([core_links(drawn()) for _ in range(count)])


def loss_on_path(
    mbps: float, rtt_s: float, packet_bits: float = 8000.0, timeouts: bool = True
) -> float:
    """Return the loss at which slide 9 sends that much: w^2 (1 + d_to) = 3 (1 - d) / (2 d)."""
    window = 1e6 * mbps * rtt_s / packet_bits
    share = min(1.0, 3.0 / window) if timeouts else 0.0
    return 1.0 / (1.0 + window**2 * (1.0 + share) / 1.5)


def by_links(rule: str, packet_bits: float = 8000.0, timeouts: bool = True) -> list[float]:
    """Return the loss of one core link from connections over 1, 2 and 3 of them."""
    throughputs = getattr(PRINTED, rule)[2:]
    whole = [loss_on_path(mbps, RTT_S[rule], packet_bits, timeouts) for mbps in throughputs]
    return [1.0 - (1.0 - loss) ** (1.0 / links) for links, loss in enumerate(whole, 1)]


def least_ratio() -> float:
    """Return the least ratio of losses, small over traditional, over packets and timeouts."""
    ways = [(bits, timeouts) for bits in PACKETS_BITS for timeouts in (True, False)]
    return min(
        min(
            a / b
            for a, b in zip(by_links("small", *way), by_links("traditional", *way), strict=True)
        )
        for way in ways
    )


def reproduce(
    seeds: int = 1, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Solve the five equations, and slide 9 for the loss."""
    low, high = np.percentile(over_roundings(), [2.5, 97.5])
    small, traditional = by_links("small"), by_links("traditional")
    ours = {
        "core-links": core_links(PRINTED),
        "core-links-low": float(low),
        "core-links-high": float(high),
        "beside": float(shares(PRINTED)[0]),
        "needed-traditional-most": max(traditional),
        "needed-traditional-least": min(traditional),
        "needed-small-least": min(small),
        "needed-small-most": max(small),
        "needed-ratio": least_ratio(),
    }
    title = "Hisamatsu 2007: what the numbers of slides 16 to 19 imply"
    return judge("hisamatsu-2007/implied", title, HERE, ours, kind=FORMULA, notes=NOTES)
