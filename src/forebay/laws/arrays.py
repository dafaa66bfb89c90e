"""Types of the laws' arguments, and functions of the normal distribution.

Arguments are anything that NumPy broadcasts; results are float64. The functions of the normal
distribution compute single values without SciPy. A scenario needs only one value, and importing
SciPy takes longer than all the laws together.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""float64 of the broadcast shape; a NumPy scalar if every argument is a scalar."""


def as_array(values: ArrayLike) -> Array:
    """`values` as float64, unchanged in shape."""
    return np.asarray(values, dtype=np.float64)


def _at_once_or_alone(x: ArrayLike, single: Callable[[float], float], name: str) -> Array:
    """A function of `scipy.special` by its name; a single value by one without SciPy."""
    values = as_array(x)
    if values.size == 1:
        return np.full(values.shape, single(values.item()))[()]
    from scipy import special

    return as_array(getattr(special, name)(values))


def erf(x: ArrayLike) -> Array:
    """Error function (2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x)."""
    return _at_once_or_alone(x, math.erf, "erf")


def erfc(x: ArrayLike) -> Array:
    """1 - `erf`, precise where it is close to zero."""
    return _at_once_or_alone(x, math.erfc, "erfc")


def erfinv(y: ArrayLike) -> Array:
    """Inverse of `erf` on [-1, 1], infinite at its ends; NaN outside."""

    def single(y: float) -> float:
        if not -1.0 < y < 1.0:
            return math.copysign(math.inf, y) if abs(y) == 1.0 else math.nan
        # by the lower tail, where 1 - |y| is precise
        return math.copysign(NormalDist().inv_cdf((1.0 - abs(y)) / 2.0), y) / math.sqrt(2.0)

    return _at_once_or_alone(y, single, "erfinv")


def quantile(probability: ArrayLike) -> Array:
    """z with P(Z <= z) = `probability` for a standard normal Z."""
    return math.sqrt(2.0) * erfinv(2.0 * as_array(probability) - 1.0)
