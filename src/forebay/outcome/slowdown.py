"""Slowdown of transfers by size: completion times over those of the empty path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from forebay.outcome.completion import completion
from forebay.outcome.reading import Slowdowns
from forebay.outcome.values import SlowdownBin

ENDS = (0.0, 1e4, 1e5, 1e6, 1e7, np.inf)
"""Ends of the bins, bytes."""
NAMES = ("up to 10 kB", "10 to 100 kB", "100 kB to 1 MB", "1 to 10 MB", "above 10 MB")


def by_size(replications: Sequence[Slowdowns]) -> dict[str, SlowdownBin]:
    """Return the bins that have transfers; unfinished ones are censored, as in `completion`."""
    found = {}
    for name, (low, high) in zip(NAMES, pairwise(ENDS), strict=True):
        each = [_in_bin(one, low, high) for one in replications]
        if not any(ended.size + open_.size for ended, open_ in each):
            continue
        made = completion(each, 0.0)
        found[name] = SlowdownBin(
            above_bytes=low,
            up_to_bytes=None if high == np.inf else high,
            transfers=made.transfers,
            unfinished=made.unfinished,
            slowdown=made.fct_s,
            least=made.fct_least_s,
        )
    return found


def _in_bin(of: Slowdowns, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    mine = (of.size_bytes > low) & (of.size_bytes <= high)
    open_ = of.unfinished.astype(bool)
    return of.slowdown[mine & ~open_], of.slowdown[mine & open_]
