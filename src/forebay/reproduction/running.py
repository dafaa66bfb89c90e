"""Artefacts made: `forebay.reproduce`, and what the command line shows of it."""

from __future__ import annotations

import time

from forebay.reproduction.artefact import Progress
from forebay.reproduction.catalogue import Entry, find
from forebay.reproduction.document import CachedResult
from forebay.reproduction.result import Reproduction
from forebay.scenario.base import whole_number

SEEDS, QUICK_SEEDS = 5, 2


def reproduce(
    artefact: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Make one table or figure of a paper again and hold it against the published values.

    Parameters
    ----------
    artefact : str
        Paper and place, such as "appenzeller-2004/fig15" or, short, "A.fig15".
        `forebay.artefacts` lists them.
    quick : bool
        Fewer seeds and shorter windows, for the same claims.
    seeds : int, optional
        Replications, with seeds 1, 2, …; not given: 5, or 2 with ``quick``.
    jobs : int
        Threads; 0 means one a core. The result does not depend on it.
    progress : callable, optional
        Called with the fraction done, 0 to 1.

    Returns
    -------
    Reproduction
        The rows with a verdict each; ``agrees`` says whether all lie in their band.

    Raises
    ------
    UnknownArtefact
        No artefact is called so.
    ScenarioError
        ``seeds`` or ``jobs`` is no whole number, or out of range.
    """
    if seeds is not None:
        whole_number("seeds", seeds, 1, 100_000)
    entry = find(str(artefact))
    return make(entry, seeds=seeds, quick=quick, jobs=jobs, progress=progress).made


def replications(seeds: int | None, quick: bool) -> int:
    """Return how many replications are made where so many were asked for."""
    return seeds or (QUICK_SEEDS if quick else SEEDS)


def make(
    entry: Entry,
    *,
    seeds: int | None = None,
    quick: bool = False,
    jobs: int = 0,
    progress: Progress | None = None,
) -> CachedResult:
    """Make one artefact, and note how long it took."""
    artefact, count = entry.load(), replications(seeds, quick)
    began = time.monotonic()
    made = artefact.reproduce(seeds=count, jobs=jobs, progress=progress, quick=quick)
    return CachedResult(made, count, quick, time.monotonic() - began)
