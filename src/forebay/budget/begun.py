"""Remember the rungs that a stopped climb had begun, so that the next climb takes the same ones.

A rung is chosen by the remaining time, and its window by a traced run. Without this record the next
climb would choose other links, and none of the stored outcomes would be theirs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from forebay.scenario import Duration, Measure

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Begun:
    """A rung: its factor, the share of the factor that flows have (`Path`), and its window."""

    factor: float
    share: float
    warmup_s: float
    duration_s: float

    @property
    def measure(self) -> Measure:
        """The warm-up and the window."""
        return Measure(warmup=Duration(self.warmup_s), duration=Duration(self.duration_s))


class Record:
    """The begun rungs of one link, beside the stored replications, if they are stored.

    A text that cannot be read counts as empty.
    """

    def __init__(self, engine: Engine, scenario: Scenario, seeds: Sequence[int]) -> None:
        self._checkpoints = engine.capabilities.checkpoints
        self._name = f"rungs {engine.name} {scenario.sha256()} {list(seeds)}"
        kept = self._checkpoints
        self._rungs = [] if kept is None else _read(kept.load(self._name))

    def next_below(self, factor: float, share: float) -> float | None:
        """Return the largest recorded factor below ``factor``; None if there is none."""
        return max((r.factor for r in self._rungs if self._is(r, share, factor)), default=None)

    @staticmethod
    def _is(rung: Begun, share: float, below: float) -> bool:
        return rung.share == share and rung.factor < below

    def measure_of(self, factor: float, share: float) -> Measure | None:
        """Return the measurement of a recorded rung; None if it was never begun."""
        known = (r.measure for r in self._rungs if (r.factor, r.share) == (factor, share))
        return next(known, None)

    def add(self, factor: float, share: float, measure: Measure) -> None:
        """Add a rung before its first run."""
        if self._checkpoints is None or self.measure_of(factor, share) is not None:
            return
        made = Begun(factor, share, float(measure.warmup), float(measure.duration))
        self._rungs.append(made)
        text = json.dumps([asdict(rung) for rung in self._rungs])
        self._checkpoints.save(self._name, text)


def _read(text: str | None) -> list[Begun]:
    if text is None:
        return []
    try:
        return [Begun(**rung) for rung in json.loads(text)]
    except (ValueError, TypeError):
        return []
