"""Independent draws of the sum of the windows, each flow at a random place of its epoch."""

from __future__ import annotations

import numpy as np

from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.protocols import PROTOCOLS


def sample_sum(
    protocol: str, n: int, draws: int, *, w_max: float = 1.0, rtt: float = 1.0, seed: int = 1
) -> Array:
    """W, the sum of `n` independent windows in packets, `draws` times over (shape (draws,)).

    Flows out of step are met at a time uniform over their epoch: what the normal of paper D,
    §III is a limit of. Same arguments, same draws.
    """
    growth = PROTOCOLS[protocol]
    random = np.random.default_rng(np.random.SeedSequence([seed, n]))
    times = random.random((draws, n)) * growth.epoch(w_max, rtt)
    return as_array(growth.window(times, w_max, rtt).sum(axis=1))
