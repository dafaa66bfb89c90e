"""Errors and coverage of the four estimators of H at 2^18 samples: `docs/reference/estimates.md`.

python benches/hurst_coverage.py --series 100 --method variance-time --method rescaled-range
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from forebay.measure.estimate import Floats
from forebay.measure.hurst import METHODS
from forebay.workload.open_loop import noise

SAMPLES = 1 << 18
TRUTHS = (0.5, 0.7, 0.9, 0.96)
SEED = 7_000_000
"""Apart from the calibration's and the tests' own."""


def series(truth: float | None, number: int) -> Iterator[Floats]:
    """Yield noise of H = ``truth``; None: counts of Poisson traffic."""
    for at in range(number):
        random = np.random.default_rng((SEED, round(1000 * (truth or 0)), at))
        if truth is None:
            yield random.poisson(3.0, SAMPLES).astype(np.float64)
        else:
            yield noise(truth, random.standard_normal(2 * SAMPLES))


def main() -> None:
    """Print a line for each H and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--method", choices=METHODS, action="append", help="these alone")
    asked = parser.parse_args()
    number, tried = asked.series, asked.method or list(METHODS)
    print("H        method           mean error  largest  above 0.05  covered  width  largest H")
    for truth in (*TRUTHS, None):
        h = 0.5 if truth is None else truth
        told = {name: [] for name in tried}
        for one in series(truth, number):
            for name in tried:
                told[name].append(METHODS[name](one))
        for name, found in told.items():
            errors = np.array([each.value - h for each in found])
            held = sum(each.low <= h <= each.high for each in found)
            width = np.mean([each.high - each.low for each in found])
            print(
                f"{'Poisson' if truth is None else h:<8} {name:16} {errors.mean():+.4f}  "
                f"{abs(errors).max():8.3f} {(abs(errors) > 0.05).sum():8}  {held:3} of {number}"
                f"  {width:.3f}  {h + errors.max():.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
