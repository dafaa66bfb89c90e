"""Keep the levels that a stopped study had started, so that the next study takes the same ones.

A level is chosen by the remaining time, and its window by a traced run. Without the checkpoint the
next study would choose other links, and none of the stored outcomes would be theirs.
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
class StartedLevel:
    """A level: its factor, the share of it that flows have (`ScalingRule`), and its window."""

    factor: float
    share: float
    warmup_s: float
    duration_s: float

    @property
    def measure(self) -> Measure:
        """The warm-up and the window."""
        return Measure(warmup=Duration(self.warmup_s), duration=Duration(self.duration_s))


class Checkpoint:
    """The started levels of one link, beside the stored replications, if they are stored.

    A text that cannot be read counts as empty.
    """

    def __init__(self, engine: Engine, scenario: Scenario, seeds: Sequence[int]) -> None:
        self._kept = engine.capabilities.checkpoints
        self._name = f"levels {engine.name} {scenario.sha256()} {list(seeds)}"
        self._levels = [] if self._kept is None else _read(self._kept.load(self._name))

    @property
    def is_kept(self) -> bool:
        """Whether a later study finds what this one has started."""
        return self._kept is not None

    def next_below(self, factor: float, share: float) -> float | None:
        """Return the largest recorded factor below ``factor``; None if there is none."""
        return max((r.factor for r in self._levels if self._is(r, share, factor)), default=None)

    @staticmethod
    def _is(level: StartedLevel, share: float, below: float) -> bool:
        return level.share == share and level.factor < below

    def measure_of(self, factor: float, share: float) -> Measure | None:
        """Return the measurement of a recorded level; None if it never started."""
        known = (r.measure for r in self._levels if (r.factor, r.share) == (factor, share))
        return next(known, None)

    def add(self, factor: float, share: float, measure: Measure) -> None:
        """Add a level before its first run."""
        if self._kept is None or self.measure_of(factor, share) is not None:
            return
        made = StartedLevel(factor, share, float(measure.warmup), float(measure.duration))
        self._levels.append(made)
        self._kept.save(self._name, json.dumps([asdict(level) for level in self._levels]))


def _read(text: str | None) -> list[StartedLevel]:
    if text is None:
        return []
    try:
        return [StartedLevel(**level) for level in json.loads(text)]
    except (ValueError, TypeError):
        return []
