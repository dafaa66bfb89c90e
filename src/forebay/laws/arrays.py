"""Types of the laws' arguments: anything NumPy broadcasts goes in, float64 comes out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""float64 of the broadcast shape; a NumPy scalar where every argument was a scalar."""


def as_array(values: ArrayLike) -> Array:
    """`values` as float64, unchanged in shape."""
    return np.asarray(values, dtype=np.float64)
