"""The protocol of an artefact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from forebay.reproduction.result import Reproduction

Progress = Callable[[float], None]


@runtime_checkable
class Artefact(Protocol):
    """One table or figure of one paper. A module with this function is an artefact.

    Other packages declare artefacts by entry points of the group ``forebay.artefacts``::

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
        """Reproduce it and judge each row.

        Parameters
        ----------
        seeds : replications, with seeds 1, 2, …; an artefact without randomness ignores it.
        jobs : threads; 0 means one for each core. The result does not depend on it.
        progress : called with the fraction done, 0 to 1.
        quick : fewer points and shorter windows for the same claims; ignored by artefacts that
            only calculate.
        """
        ...


@runtime_checkable
class MeasuredArtefact(Artefact, Protocol):
    """An artefact with testbed runs."""

    def measure(
        self, *, seeds: int = ..., progress: Progress | None = ..., again: bool = ...
    ) -> list[str]:
        """Record missing runs, or all with ``again``; return a line for each rejected run."""
        ...
