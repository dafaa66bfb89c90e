"""A sizing once more: every run of its document, and whether it gave the same digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.api.arguments import get_engine, threads
from forebay.api.scenario_of import scenario_of
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.outcome import CurvePoint, Outcome, SizeResult

_PARTS = ("links", "classes")


@dataclass(frozen=True, slots=True)
class Again:
    """Buffers that were run once more, and those whose metrics were not the same."""

    packets: tuple[int, ...]
    different: tuple[int, ...]


def again(
    answer: SizeResult, *, jobs: int = 0, told: Callable[[float], None] | None = None
) -> Again:
    """Run every buffer of a sizing once more, on its seeds, and compare all metrics.

    Raises
    ------
    ScenarioError
        The answer is extrapolated, of a network's links, or has no runs.
    """
    _check(answer)
    different = []
    for place, point in enumerate(answer.curve):
        if not _is_same(point, jobs):
            different.append(point.packets)
        if told is not None:
            told((place + 1) / len(answer.curve))
    return Again(tuple(point.packets for point in answer.curve), tuple(different))


def _check(answer: SizeResult) -> None:
    why = None
    if answer.scaled is not None:
        why = "it is extrapolated from smaller links, whose runs it does not have"
    elif not answer.curve:
        why = "it has no runs"
    elif answer.curve[0].outcome.scenario.get("topology"):
        why = "it is of a network's links"
    if why is not None:
        hint = "size again with its scenario, and with a store to keep its runs"
        raise ScenarioError("again", f"the answer cannot be repeated: {why}", hint)


def _is_same(point: CurvePoint, jobs: int) -> bool:
    before = point.outcome
    scenario = scenario_of(before)
    engine = get_engine(before.engine, None)
    after = engine.run(scenario, before.provenance.seeds, jobs=threads(jobs))
    return _metrics(before) == _metrics(after)


def _metrics(outcome: Outcome) -> dict[str, object]:
    document = outcome.to_dict()
    return {part: document[part] for part in _PARTS}
