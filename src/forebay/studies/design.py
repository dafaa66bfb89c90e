"""Points of a design that fills the space between the axes, instead of every combination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario.base import whole_number
from forebay.scenario.errors import show
from forebay.studies.errors import bad_grid, unknown_key

KINDS = ("random", "sobol", "halton", "latin-hypercube")
_KEYS = ("kind", "points", "seed")
_MOST_POINTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Design:
    """How many points are drawn, and how; the same seed draws the same ones."""

    kind: str
    points: int
    seed: int

    def shares(self, axes: int) -> NDArray[np.float64]:
        """Return the points, shape (points, axes), in [0, 1)."""
        rng = np.random.default_rng(self.seed)
        if self.kind == "random":
            return rng.random((self.points, axes))
        from scipy.stats import qmc

        if self.kind == "sobol":
            sampler = qmc.Sobol(axes, rng=rng)
            drawn = sampler.random_base2(max(0, (self.points - 1).bit_length()))
            return np.asarray(drawn[: self.points], dtype=np.float64)
        kinds = {"halton": qmc.Halton, "latin-hypercube": qmc.LatinHypercube}
        return np.asarray(kinds[self.kind](axes, rng=rng).random(self.points), dtype=np.float64)


def design_of(spec: object) -> Design:
    """Read the table of a design. Raises ScenarioError."""
    if not isinstance(spec, Mapping):
        hint = 'write { kind = "sobol", points = 64 }'
        raise bad_grid("design", f"{show(spec)} is no design", hint)
    for key in spec:
        if key not in _KEYS:
            raise unknown_key("design", str(key), _KEYS)
    kind: Any = spec.get("kind", "sobol")
    if kind not in KINDS:
        raise bad_grid(
            "design.kind", f"there is no {show(kind)}", f"write one of: {', '.join(KINDS)}"
        )
    points = whole_number("design.points", spec.get("points", 0), 1, _MOST_POINTS)
    return Design(kind, points, whole_number("design.seed", spec.get("seed", 1), 0, 2**63 - 1))
