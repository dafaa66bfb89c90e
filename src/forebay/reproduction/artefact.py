"""What a module or an object must have to be an artefact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from forebay.reproduction.result import Reproduction

Progress = Callable[[float], None]


@runtime_checkable
class Artefact(Protocol):
    """One table or figure of one paper. A module is one if it has this function.

    A package of your own offers its artefacts by entry points of the group ``forebay.artefacts``::

        [project.entry-points."forebay.artefacts"]
        "mylab-2026/fig1" = "mylab.fig1"
    """

    def reproduce(
        self,
        seeds: int = ...,
        jobs: int = ...,
        progress: Progress | None = ...,
        quick: bool = ...,
    ) -> Reproduction:
        """Make it again and judge each row.

        Parameters
        ----------
        seeds : replications, with seeds 1, 2, …; an artefact without randomness ignores it.
        jobs : threads; 0 means one a core. The result does not depend on it.
        progress : called with the fraction done, 0 to 1.
        quick : fewer points and shorter windows for the same claims; one that only calculates
            ignores it.
        """
        ...


@runtime_checkable
class MeasuredArtefact(Artefact, Protocol):
    """An artefact that also has runs on the testbed."""

    def measure(
        self, *, seeds: int = ..., progress: Progress | None = ..., again: bool = ...
    ) -> list[str]:
        """Record the runs that are missing, with ``again`` all; return a line for each rejected."""
        ...
