"""Which input moves a sizing how much: each alone, and all together by Sobol's indices.

An operator's inputs are guesses. The elasticity says by how many percent the answer changes if an
input changes by one: 1 for the rate under the rule of thumb, -0.5 for n under the square root. The
indices say which share of the answer's variance an input makes (Saltelli et al. 2010).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from forebay.outcome import Metric
from forebay.outcome.uncertain import Influence
from forebay.scenario import Scenario
from forebay.studies.uncertain import Uncertain, scaled, value_at

METHODS = ("one-at-a-time", "sobol")
_FIELDS = (
    "flows", "rtt", "start", "load", "rate", "length", "peak_rate", "on", "off", "arrival_rate",
    "access_rate",
)  # fmt: skip
_RESAMPLES = 400
Point = tuple[Any, ...]


def inputs_of(scenario: Scenario, change: float) -> dict[str, Any]:
    """Return the inputs that can be scaled, each with its range."""
    tree, low, high = scenario.to_dict(), 1.0 - change, 1.0 + change
    inputs: dict[str, Any] = {}
    if "rate" in tree["link"]:  # not that of a trace, which has no amount to scale
        inputs["link.rate"] = {"scaled": [low, high]}
    for index, group in enumerate(tree["traffic"]):
        for name in _FIELDS:
            if name in group and scaled(group[name], high) != group[name]:
                inputs[f"traffic.{index}.{name}"] = {"scaled": [low, high]}
        shares = group.get("congestion_control")
        if isinstance(shares, dict):
            name = min(shares, key=lambda control: abs(shares[control] - 0.5))
            ends = [low * shares[name], min(1.0, high * shares[name])]
            inputs[f"traffic.{index}.congestion_control.{name}"] = {"linear": ends}
    return inputs


def alone(
    scenario: Scenario, inputs: Sequence[Uncertain], ends: tuple[float, float]
) -> list[Point]:
    """Return the scenario's own point, then each input at both ends, the others as they are."""
    base = tuple(value_at(scenario, input_.field) for input_ in inputs)
    return [base] + [
        (*base[:at], input_.at(end), *base[at + 1 :])
        for at, input_ in enumerate(inputs)
        for end in ends
    ]


def sobol_points(inputs: Sequence[Uncertain], draws: int, seed: int) -> list[Point]:
    """Return the rows of A, of B, and of A with each column from B (Saltelli et al. 2010)."""
    count = len(inputs)
    sampler = scipy.stats.qmc.Sobol(2 * count, rng=np.random.default_rng(seed))
    both = sampler.random_base2(draws.bit_length() - 1)
    first, other = both[:, :count], both[:, count:]
    tables = [first, other]
    for at in range(count):
        mixed = first.copy()
        mixed[:, at] = other[:, at]
        tables.append(mixed)
    return [
        tuple(input_.at(share) for input_, share in zip(inputs, row, strict=True))
        for table in tables
        for row in table.tolist()
    ]


def influences_of(
    inputs: Sequence[Uncertain],
    ends: tuple[float, float],
    values: Sequence[Any],
    packets: Sequence[float | None],
    indices: Mapping[str, tuple[Metric, Metric]],
) -> tuple[Influence, ...]:
    """Return what each input does, the strongest first: by its total index where it has one.

    Parameters
    ----------
    values : of the inputs, as the scenario has them.
    packets : the answers at the points of `alone`.
    indices : of `indices_of`; may be empty.
    """
    influences = []
    for at, input_ in enumerate(inputs):
        low, high = packets[1 + 2 * at], packets[2 + 2 * at]
        first, total = indices.get(input_.path, (None, None))
        influences.append(
            Influence(
                path=input_.path, value=values[at], low=low, high=high,
                elasticity=_elasticity(input_, ends, low, high), first=first, total=total,
            )
        )  # fmt: skip
    influences.sort(key=_strength, reverse=True)
    influences.sort(key=lambda each: float(each.total or 0.0), reverse=True)
    return tuple(influences)


def _elasticity(
    input_: Uncertain, ends: tuple[float, float], low: float | None, high: float | None
) -> float | None:
    first, last = input_.number(ends[0]), input_.number(ends[1])
    if not low or not high or not 0.0 < first < last or input_.is_list:
        return None
    return math.log(high / low) / math.log(last / first)


def _strength(influence: Influence) -> float:
    """Return how far the answer moves, whichever way the input was changed."""
    if not influence.low or not influence.high:
        return -1.0
    return abs(math.log(influence.high / influence.low))


def indices_of(
    inputs: Sequence[Uncertain], packets: Sequence[float | None], draws: int
) -> tuple[dict[str, tuple[Metric, Metric]], int]:
    """Return Sobol's first-order and total index of each input by path, and the rows they are of.

    Rows with a point without an answer are left out, and as many more as a power of 2 needs. There
    are none, of 0 rows, where fewer than 8 are left.
    """
    table = np.array([np.nan if p is None else p for p in packets]).reshape(-1, draws)
    whole = np.flatnonzero(~np.isnan(table).any(axis=0))
    kept = 2 ** (whole.size.bit_length() - 1) if whole.size else 0
    if kept < 8:
        return {}, 0
    indices = _indices(table[:, whole[:kept]])
    return {input_.path: pair for input_, pair in zip(inputs, indices, strict=True)}, kept


def _indices(table: NDArray[np.float64]) -> list[tuple[Metric, Metric]]:
    """Return first-order and total index of each input, of answers of shape (2 + inputs, draws).

    Their intervals come from rows drawn again with replacement.
    """
    rng = np.random.default_rng(1)
    count = table.shape[1]
    again = rng.integers(0, count, (_RESAMPLES, count))
    values = _both(table)
    ends = np.percentile([_both(table[:, rows]) for rows in again], (2.5, 97.5), axis=0)
    first, total = (
        [_metric(values[of, at], ends[:, of, at], count) for at in range(values.shape[1])]
        for of in (0, 1)
    )
    return list(zip(first, total, strict=True))


def _both(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return first-order and total indices, shape (2, inputs)."""
    changed = table[[*range(2, table.shape[0]), 2], None, :]  # SciPy fails with one input
    of = {"f_A": table[:1], "f_B": table[1:2], "f_AB": changed}
    indices = scipy.stats.sobol_indices(func=of, n=table.shape[1])
    return np.array([indices.first_order, indices.total_order]).reshape(2, -1)[:, :-1]


def _metric(value: float, ends: NDArray[np.float64], n: int) -> Metric:
    return Metric(value=float(value), low=float(ends[0]), high=float(ends[1]), n=n)
