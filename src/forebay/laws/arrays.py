"""Types of the laws' arguments, and functions of the normal distribution.

Arguments are anything that NumPy broadcasts; results are float64. The functions of the normal
distribution compute single values without SciPy. A scenario needs only one value, and importing
SciPy takes longer than all the laws together.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""float64 of the broadcast shape; a NumPy scalar if every argument is a scalar."""


def as_array(values: ArrayLike) -> Array:
    """`values` as float64, unchanged in shape."""
    return np.asarray(values, dtype=np.float64)


_STANDARD = NormalDist()


def erf(x: ArrayLike) -> Array:
    """Error function (2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x)."""
    values = as_array(x)
    if values.size == 1:
        return np.full(values.shape, math.erf(values.item()))[()]
    from scipy.special import erf as erf_of_array

    return as_array(erf_of_array(values))


def erfc(x: ArrayLike) -> Array:
    """1 - `erf`, precise where it is close to zero."""
    values = as_array(x)
    if values.size == 1:
        return np.full(values.shape, math.erfc(values.item()))[()]
    from scipy.special import erfc as erfc_of_array

    return as_array(erfc_of_array(values))


def erfinv(y: ArrayLike) -> Array:
    """Inverse of `erf` on [-1, 1], infinite at its ends; NaN outside."""
    values = as_array(y)
    if values.size == 1:
        single = values.item()
        if -1.0 < single < 1.0:  # by the lower tail, where 1 - |y| is precise
            tail = _STANDARD.inv_cdf((1.0 - abs(single)) / 2.0)
            inverse = math.copysign(tail, single) / math.sqrt(2.0)
        else:
            inverse = math.copysign(math.inf, single) if abs(single) == 1.0 else math.nan
        return np.full(values.shape, inverse)[()]
    from scipy.special import erfinv as erfinv_of_array

    return as_array(erfinv_of_array(values))


def quantile(probability: ArrayLike) -> Array:
    """z with P(Z <= z) = `probability` for a standard normal Z."""
    return math.sqrt(2.0) * erfinv(2.0 * as_array(probability) - 1.0)
