"""What laws say of a link where none covers it: the answer to the nearest question that has one.

A sizing that has no time to simulate, and no law, still owes a bracket. The changes are those that
`regime` names: round trips with a spread instead of equal ones, and loss-based flows instead of
paced ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.laws.quantities import paced
from forebay.laws.regime import regime_of
from forebay.scenario import Long, Tcp

if TYPE_CHECKING:
    from forebay.laws.law import LawAnswer
    from forebay.scenario import Scenario

_SPREAD = 0.2
"""Half of the round trips' spread: the one that theory's refusal proposes."""


class LawBracket(NamedTuple):
    """Packets between which a law places an answer; ``why`` names the law and the question."""

    low: float
    high: float
    why: str


def bracket(scenario: Scenario) -> LawBracket | None:
    """Return the governing law's answer, or that to a neighbouring question.

    None if no law answers any of them.
    """
    from forebay.laws import for_scenario

    for change, asked in _questions(scenario):
        regime = regime_of(asked)
        known = next((law for law in for_scenario(asked) if law.law == regime.law), None)
        if known is not None and known.packets:
            return _says(change, known, regime.times_simulation)
    return None


def _says(change: str, law: LawAnswer, times: tuple[float, float] | None) -> LawBracket:
    low, high = law.between or (law.packets or 0.0, law.packets or 0.0)
    said = f"{change}{law.law} gives {_between(low, high)} packets"
    if times is None:
        return LawBracket(low, high, said)
    low, high = low / times[1], high / times[0]
    needed = f"{said}, and simulations of such links needed {_between(low, high)}"
    return LawBracket(low, high, needed)


def _between(low: float, high: float) -> str:
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def _questions(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Yield the link itself, then links that differ in ever more respects, with the difference."""
    yield "", scenario
    changes: dict[str, Any] = {}
    words: list[str] = []
    for what, more in (
        ("loss-based flows (cubic)", _loss_based(scenario)),
        ("round trips that differ by a fifth each way", _spread(scenario)),
    ):
        if more:
            changes |= more
            words.append(what)
            yield f"with {' and '.join(words)}, ", scenario.replace(changes)


def _loss_based(scenario: Scenario) -> dict[str, Any]:
    if not paced(scenario):
        return {}
    tcp = (i for i, group in enumerate(scenario.traffic) if isinstance(group, Tcp))
    return {f"traffic.{i}.congestion_control": "cubic" for i in tcp}


def _spread(scenario: Scenario) -> dict[str, Any]:
    found = {}
    for i, group in enumerate(scenario.traffic):
        if isinstance(group, Long) and group.rtt.low == group.rtt.high:
            ends = ((1 - _SPREAD) * group.rtt.mean, (1 + _SPREAD) * group.rtt.mean)
            found[f"traffic.{i}.rtt"] = {"uniform": [f"{end:.6g} s" for end in ends]}
    return found
