"""Makes the table `hurst_calibration.csv` of `forebay.measure`; takes five minutes of CPU.

python benches/hurst_calibration.py
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np

from forebay.measure.estimate import Floats
from forebay.measure.hurst import QUANTILES, TABLE, raw
from forebay.workload.open_loop import noise

HURST = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995)
"""The generator needs H below 1."""
LENGTHS = tuple(1 << octave for octave in range(10, 19, 2))
_FEWEST, _MOST, _SAMPLES = 300, 2000, 1 << 24
_SEED = 22


def draws(truth: float, length: int) -> Iterator[Floats]:
    """Yield noise of one H, from the same random numbers for each H: the table is smooth in H."""
    random = np.random.default_rng((_SEED, length))
    for _ in range(min(max(_SAMPLES // length, _FEWEST), _MOST)):
        yield noise(truth, random.standard_normal(2 * length))


def main() -> None:
    """Write the table."""
    rows: list[list[object]] = []
    for length in LENGTHS:
        for truth in HURST:
            estimates = [raw(series) for series in draws(truth, length)]
            quantiles = np.quantile(np.array(estimates), list(QUANTILES.values()))
            rows.append(["rescaled-range", length, truth, *(f"{one:.5f}" for one in quantiles)])
            print(length, truth, flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows([["method", "length", "hurst", *QUANTILES], *rows])


if __name__ == "__main__":
    main()
