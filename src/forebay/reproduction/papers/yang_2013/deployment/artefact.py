"""Section I: whether the mix of section VIII has the shares that were measured."""

from __future__ import annotations

from pathlib import Path

from forebay.reproduction import FORMULA, Progress, Reproduction, judge
from forebay.reproduction.papers.yang_2013 import mix

HERE = Path(__file__).resolve().parent
MEASURED = {  # percent of 30,000 web servers: minimum and maximum
    "reno": (3.31, 14.47),
    "bic": (20.45, 20.45),
    "cubic_beta_0_8": (12.81, 12.81),
    "cubic_beta_0_7": (13.66, 13.66),
    "ctcp": (14.5, 25.66),
}
NOTES = [
    "Servers that use none of the five are left out: a protocol's share is at most its most over "
    "that and the least of the others, at least its least over that and the most of the others.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate every share; needs no run."""
    return judge(
        "yang-2013/deployment",
        "Yang et al. 2013, sections I and VIII: the mix of flows against the measured deployment",
        HERE,
        numbers(),
        kind=FORMULA,
        notes=NOTES,
    )


def numbers() -> dict[str, float]:
    """The share of each protocol in the mix, percent."""
    total = sum(mix.FLOWS.values())
    return {name: 100 * flows / total for name, flows in mix.FLOWS.items()}


def bounds(name: str) -> tuple[float, float]:
    """Minimum and maximum percent of a protocol among the five."""
    low, high = MEASURED[name]
    others = [each for other, each in MEASURED.items() if other != name]
    least, most = (sum(each[side] for each in others) for side in (0, 1))
    return 100 * low / (low + most), 100 * high / (high + least)
