"""Flows shared out among congestion controls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def apportion(flows: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Return whole numbers that sum to ``flows``, by largest remainder (Hamilton).

    Each count is within one of ``flows * share``; equal remainders go by name.
    """
    total = sum(shares.values())
    quotas = {name: flows * share / total for name, share in shares.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda name: (counts[name] - quotas[name], name))
    for name in by_remainder[: flows - sum(counts.values())]:
        counts[name] += 1
    return counts


def assign(
    counts: Mapping[str, int], names: tuple[str, ...], keys: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return for each flow the index of its congestion control in ``names``.

    ``keys`` holds one random number a flow; the flows are shuffled by sorting on it.
    """
    used = [name for name in names if counts.get(name)]
    indices = [names.index(name) for name in used]
    in_order = np.repeat(np.array(indices, dtype=np.int32), [counts[name] for name in used])
    return in_order[np.argsort(keys, kind="stable")]
