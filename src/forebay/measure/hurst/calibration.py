"""Bias and spread of an estimator of H, by playing it on noise whose H is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from forebay.measure.estimate import Estimate, Floats
from forebay.workload.fractional_noise import noise

_FIRST, _FEWEST, _MOST = 12, 40, 100
"""Draws to find the bias roughly, and at the value that this gives: its error then adds little."""
_SAMPLES = 1 << 20
"""As many draws as make so many samples: those of a short series cost little."""
_SEED = 22
_LEAST, _LARGEST = 0.05, 0.995
"""The generator's noise exists below 1."""
_STEP = 0.05
_FLATTEST = 0.2
"""An estimator that says less than so much of a change of H says nothing."""


def calibrated(raw: Callable[[Floats], float], series: Floats) -> Estimate:
    """Return the H of fractional Gaussian noise of which the estimator says what it says here.

    Indirect inference (Gourieroux, Monfort and Renault 1993): the estimator's mean on noise of
    known H and of the same length is inverted, by a line on each side; its spread there over the
    line's slope is the error to that side, for near 1 an estimator says less and less of a change.
    The draws have a fixed seed, so the same series gives the same answer.
    """
    from scipy.special import stdtrit

    found, length = raw(series), len(series)
    number = min(max(_SAMPLES // length, _FEWEST), _MOST)
    value = found
    for draws in (_FIRST, number):
        truth = min(max(value, _LEAST + _STEP), _LARGEST - _STEP)
        at = [_replicas(raw, truth + side * _STEP, length, draws) for side in (-1, 0, 1)]
        slopes = [max(float((b - a).mean()) / _STEP, _FLATTEST) for a, b in itertools.pairwise(at)]
        error = found - float(at[1].mean())
        value = truth + error / slopes[error > 0]
    t = float(stdtrit(number - 1, 0.975)) * math.sqrt(1 + 1 / number)
    spreads = [float(draw.std(ddof=1)) for draw in at]
    down, up = (max(spreads[k], spreads[k + 1]) / slopes[k] * t for k in (0, 1))
    return Estimate(value, value - down, value + up, length)


def _replicas(raw: Callable[[Floats], float], truth: float, length: int, number: int) -> Floats:
    """Return what the estimator says of noise of H = ``truth``; shape (number,)."""
    size = 2 * (1 << (length - 1).bit_length())
    random = np.random.default_rng(_SEED)
    draws = (noise(truth, random.standard_normal(size))[:length] for _ in range(number))
    return np.array([raw(draw) for draw in draws])
