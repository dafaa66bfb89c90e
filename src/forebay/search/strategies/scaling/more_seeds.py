"""More replications of the whole link's crossing, as many as fit into the time that is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.search.stopping import OutOfTime
from forebay.search.strategies.crossing.crossing import MOST_NEAR, again, seeds_of_crossing

if TYPE_CHECKING:
    from forebay.search.strategies.scaling.study import ScalingStudy

_WORTH_IT = 1.5
"""Least ratio of the new number of seeds to the old: it makes the interval a fifth narrower."""


@dataclass(slots=True)
class MoreSeeds:
    """Measures the whole link's crossing once more, with up to ``most`` seeds.

    Its replications are known to the engine, so that only the new ones take time. If the time
    ends before, the first crossing stays.
    """

    study: ScalingStudy
    most: int
    asked: bool = False

    def next_seeds(self) -> int | None:
        """Return the seeds that fit; None if they are not worth it, or once it was asked."""
        study, top = self.study, self.study.levels[0]
        if self.asked or study.stopped or top.factor != 1.0 or top.found.reached != "inside":
            return None
        wanted = min(self._fitting(), self.most)
        return None if wanted < _WORTH_IT * len(study.seeds) else wanted

    def use(self, seeds: int) -> bool:
        """Measure the crossing with so many seeds; return whether the time was enough."""
        self.asked, study, top = True, self.study, self.study.levels[0]
        known, curve = study.seeds, top.curve
        first = known[0]
        curve.seeds = seeds_of_crossing(range(first, first + seeds), study.options.threads)
        try:
            top.found = again(curve, top.found, curve.limit)
        except KeyboardInterrupt as end:
            curve.seeds = known
            study.stopped = not isinstance(end, OutOfTime)
            return False
        return True

    def _fitting(self) -> int:
        """Return the seeds that fit: of the buffers near the crossing, then of the answer."""
        top, seeds = self.study.levels[0], len(self.study.seeds)
        runs = len(top.found.evaluations)
        replication_s = max(top.took_s, 1e-9) / (runs * seeds)
        near = min(runs, MOST_NEAR)
        return int((self.study.left_s / replication_s + near * seeds) / (near + 1))
