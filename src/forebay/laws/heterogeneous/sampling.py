"""Independent random draws of the sum of the windows, each flow at a random time of its epoch."""

from __future__ import annotations

import numpy as np

from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.protocols import PROTOCOLS


def sample_sum(
    protocol: str, n: int, draws: int, *, w_max: float = 1.0, rtt: float = 1.0, seed: int = 1
) -> Array:
    """W, the sum of `n` independent windows in packets, `draws` times over (shape (draws,)).

    Each flow is at a uniform time of its epoch; the normal distribution of paper D, §III is the
    limit for many flows. The same arguments give the same draws.
    """
    growth = PROTOCOLS[protocol]
    random = np.random.default_rng(np.random.SeedSequence([seed, n]))
    times = random.random((draws, n)) * growth.epoch(w_max, rtt)
    return as_array(growth.window(times, w_max, rtt).sum(axis=1))
