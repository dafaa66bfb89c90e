"""Figures 6 and 7 between and beyond their printed points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import forebay
from forebay.reproduction import FORMULA, Progress, Reproduction, judge

HERE = Path(__file__).resolve().parent
PROTOCOLS = ("reno", "bic", "cubic_beta_0_8", "cubic_beta_0_7", "ctcp")
N, TAU, RHO = 200, 0.99, 0.99
PHIS = np.linspace(0.001, 0.01, 91)
STEPS = np.linspace(0.0, 1.0, 101)
NOTES = ["As printed: z of 2.05 and Table III; right: Φ(z) = 0.99 and Table II integrated."]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate the curves; needs no run."""
    return judge(
        "yang-2013/curves",
        "Yang et al. 2013, Figures 6 and 7 over their whole axes",
        HERE,
        numbers(),
        kind=FORMULA,
        notes=NOTES,
    )


def numbers() -> dict[str, float]:
    """The claims' numbers."""
    printed = {name: _increase(name, True) for name in PROTOCOLS}
    right = {name: _increase(name, False) for name in PROTOCOLS}
    left = {name: _left(name) for name in PROTOCOLS}
    return {
        "falls": max(float(np.diff(curve).max()) for curve in printed.values()),
        "free": float(PHIS[np.argmax(printed["bic"] <= 0)]),
        "between": _outside(printed),
        "between-right": _outside(right),
        "rises": min(float(np.diff(curve).min()) for curve in left.values()),
        "never-below": min(float(curve.min()) for curve in left.values()),
    }


def _increase(name: str, as_printed: bool) -> np.ndarray:
    """Increase of the buffer in percent, by φ."""
    h = forebay.laws.heterogeneous
    a = h.characteristic_value(name, as_printed=as_printed)
    made = [h.increase_for_drops(a, N, TAU, phi, RHO, as_printed=as_printed) for phi in PHIS]
    return 100.0 * np.array([float(each) for each in made])


def _outside(curves: dict[str, np.ndarray]) -> float:
    """Largest distance of any curve from the range between BIC's and RENO's, in points."""
    below = max(float((curves["bic"] - each).max()) for each in curves.values())
    above = max(float((each - curves["reno"]).max()) for each in curves.values())
    return max(below, above, 0.0)


def _left(name: str) -> np.ndarray:
    """z by γ, from no buffer to the full one."""
    h = forebay.laws.heterogeneous
    a = h.characteristic_value(name)
    needed = float(h.for_utilization(1.0, a, N, TAU))
    lowest = float(h.share_kept(0.0, needed, 1.0))
    gammas = lowest + STEPS * (1.0 - lowest)
    return np.array([float(h.z_kept(gamma, a, N, TAU)) for gamma in gammas])
