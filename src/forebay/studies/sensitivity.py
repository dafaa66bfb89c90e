"""Which input moves a sizing how much: each is changed alone, down and up by the same share.

An operator's inputs are guesses. The elasticity says by how many percent the answer changes if an
input changes by one: 1 for the rate under the rule of thumb, -0.5 for n under the square root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from forebay.scenario import Duration, Scenario, ScenarioError
from forebay.scenario.quantity import parse_amount, plain

_FIELDS = ("flows", "rtt", "start", "load", "rate", "length")
_KINDS = ("rate", "time", "size", "packets")
Answers = Mapping[tuple[str, int], float | None]
"""Packets by input and side, -1 or 1."""


@dataclass(frozen=True, slots=True)
class Input:
    """A field of a scenario with its value as written, and the values below and above."""

    path: str
    value: Any
    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class Influence:
    """What an input does to the answer.

    Attributes
    ----------
    path, value : the field and its value.
    low, high : packets with the input below and above; None where there is no answer.
    elasticity : of the answer, between them; None without both.
    """

    path: str
    value: Any
    low: float | None
    high: float | None
    elasticity: float | None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The influence of every input, the strongest first.

    Attributes
    ----------
    packets : the answer for the scenario as it is; None without one.
    change : share by which each input was changed.
    """

    engine: str
    packets: float | None
    change: float
    influences: tuple[Influence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {"schema": 1} | asdict(self)

    def __str__(self) -> str:
        answer = "no answer" if self.packets is None else f"{self.packets:.0f} packets"
        lines = [f"{answer} by {self.engine}; each input changed by ±{self.change:.0%}"]
        for each in self.influences:
            ends = " … ".join("–" if v is None else f"{v:.0f}" for v in (each.low, each.high))
            power = "–" if each.elasticity is None else f"{each.elasticity:+.2f}"
            lines.append(f"  {each.path:24} {ends:>16} packets, elasticity {power}")
        return "\n".join(lines)


def inputs_of(scenario: Scenario, change: float) -> list[Input]:
    """Return the inputs that can be scaled, with their values below and above."""
    found = []
    for path, value in _inputs(scenario.to_dict()):
        low, high = _scaled(value, 1.0 - change), _scaled(value, 1.0 + change)
        if value not in (low, high):
            found.append(Input(path, value, low, high))
    return found


def _inputs(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "link.rate", tree["link"]["rate"]
    for index, group in enumerate(tree["traffic"]):
        for name in _FIELDS:
            if name in group:
                yield f"traffic.{index}.{name}", group[name]


def _scaled(value: Any, factor: float) -> Any:
    """Return a written value with every amount in it scaled; whole numbers stay whole."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return max(1, round(factor * value)) if value else 0
    if isinstance(value, float):
        return factor * value
    if isinstance(value, list):
        return [_scaled(each, factor) for each in value]
    if isinstance(value, dict):
        return {name: _scaled(each, factor) for name, each in value.items()}
    return _scaled_text(value, factor)


def _scaled_text(value: str, factor: float) -> str:
    try:
        amount, kind = parse_amount(value, _KINDS, "10 ms")
    except ScenarioError:
        return value  # a range, or a name
    scaled = float(amount) * factor
    if kind == "time":
        return str(Duration(float(f"{scaled:.9g}")))
    if kind == "packets":
        return f"{max(1, round(scaled))} packets"
    if kind == "size":
        return f"{round(scaled / 8)} B"
    return f"{plain(Decimal(repr(scaled)))} bit/s"


def influences(
    engine: str, base: float | None, change: float, inputs: list[Input], answers: Answers
) -> Sensitivity:
    """Return the result of the answers."""
    made = []
    for each in inputs:
        low, high = answers.get((each.path, -1)), answers.get((each.path, 1))
        power = None
        if low and high:
            power = math.log(high / low) / math.log((1.0 + change) / (1.0 - change))
        made.append(Influence(each.path, each.value, low, high, power))
    made.sort(
        key=lambda each: -1.0 if each.elasticity is None else abs(each.elasticity), reverse=True
    )
    return Sensitivity(engine, base, change, tuple(made))
