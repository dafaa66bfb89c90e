"""Runs artefacts, for `forebay.reproduce` and the command line."""

from __future__ import annotations

import time

from forebay.reproduction.artefact import Progress
from forebay.reproduction.discovery import Entry, find
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
    """Reproduce one table or figure of a paper and compare it with the published values.

    Parameters
    ----------
    artefact : str
        Paper and place, such as "appenzeller-2004/fig15" or, short, "A.fig15".
        `forebay.artefacts` lists them.
    quick : bool
        Fewer seeds and shorter windows, for the same claims.
    seeds : int, optional
        Replications, with seeds 1, 2, …; the default is 5, or 2 with ``quick``.
    jobs : int
        Threads; 0 means one for each core. The result does not depend on it.
    progress : callable, optional
        Called with the fraction done, 0 to 1.

    Returns
    -------
    Reproduction
        The rows with a verdict for each; ``agrees`` is whether all are in their band.

    Raises
    ------
    UnknownArtefact
        There is no such artefact.
    ScenarioError
        ``seeds`` or ``jobs`` is not a whole number, or out of range.
    """
    if seeds is not None:
        whole_number("seeds", seeds, 1, 100_000)
    entry = find(str(artefact))
    return make(entry, seeds=seeds, quick=quick, jobs=jobs, progress=progress).made


def replications(seeds: int | None, quick: bool) -> int:
    """Return the number of replications for these arguments."""
    return seeds or (QUICK_SEEDS if quick else SEEDS)


def make(
    entry: Entry,
    *,
    seeds: int | None = None,
    quick: bool = False,
    jobs: int = 0,
    progress: Progress | None = None,
) -> CachedResult:
    """Run one artefact, and measure its wall time."""
    artefact, count = entry.load(), replications(seeds, quick)
    began = time.monotonic()
    made = artefact.reproduce(seeds=count, jobs=jobs, progress=progress, quick=quick)
    return CachedResult(made, count, quick, time.monotonic() - began)
