"""Batches: work that a worker gets at once, large enough to be worth its way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from forebay.errors import current_words
from forebay.scenario import Scenario
from forebay.store import code_of
from forebay.studies.plan import Asked, Cell, Plan
from forebay.studies.work import Batch, Item, Sizes

LONGEST_S, SHORTEST_S = 1.0, 0.05
"""Predicted seconds of a batch. A worker that dies costs its batch again."""
_PARTS = 8
"""Batches that each worker gets of a short study, so that all end at about the same time."""

Missing = Mapping[tuple[int, int], Sequence[int]]
"""Seeds that are to run, by the index of the question and of the cell."""


def batches(
    plan: Plan, missing: Missing, workers: int, sizes: Sizes | None = None
) -> Iterator[Batch]:
    """Yield all work.

    Cells whose flows are drawn alike stay together, with a part of the seeds, so that each seed's
    flows are drawn once for all of them.
    """
    whole = sum(
        len(seeds) * plan.price_s(plan.asked[a], plan.cells[c]) for (a, c), seeds in missing.items()
    )
    target = min(LONGEST_S, max(SHORTEST_S, whole / (workers * _PARTS)))
    for index, asked in enumerate(plan.asked):
        groups: dict[object, list[tuple[Cell, Sequence[int]]]] = {}
        for (a, c), seeds in missing.items():
            if a == index:
                cell = plan.cells[c]
                groups.setdefault(_drawn(cell.scenario, seeds), []).append((cell, seeds))
        for cells in groups.values():
            yield from _of_group(plan, asked, cells, target, sizes)


def _drawn(scenario: Scenario, seeds: Sequence[int]) -> object:
    """Return what the draw of the flows depends on, and the seeds."""
    kinds = (scenario.traffic, scenario.measure)
    return (repr(kinds), float(scenario.link.capacity), tuple(seeds))


def _of_group(
    plan: Plan,
    asked: Asked,
    cells: Sequence[tuple[Cell, Sequence[int]]],
    target: float,
    sizes: Sizes | None,
) -> Iterator[Batch]:
    """Yield the batches of cells with the same flows and seeds: all cells with some seeds each."""
    prices = [plan.price_s(asked, cell) for cell, _ in cells]
    for some in _cut(cells, prices, target):
        price = sum(plan.price_s(asked, cell) for cell, _ in some)
        seeds = some[0][1]
        step = max(1, min(len(seeds), int(target / price)))
        step = ceil(len(seeds) / ceil(len(seeds) / step))
        for first in range(0, len(seeds), step):
            part = tuple(seeds[first : first + step])
            items = tuple(Item(cell.scenario, part) for cell, _ in some)
            made_by = code_of(asked.engine)
            yield Batch(
                asked, made_by, items, current_words(), price * len(part), sizes, plan.seeds
            )


def _cut(
    cells: Sequence[tuple[Cell, Sequence[int]]], prices: Sequence[float], target: float
) -> Iterator[list[tuple[Cell, Sequence[int]]]]:
    """Yield cells in parts of about the price of a batch for one seed."""
    part: list[tuple[Cell, Sequence[int]]] = []
    held = 0.0
    for cell, price in zip(cells, prices, strict=True):
        if part and held + price > target:
            yield part
            part, held = [], 0.0
        part.append(cell)
        held += price
    if part:
        yield part
