"""Reproduces one artefact, or reads it from the cache, with its progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forebay.cli.output import progress, say
from forebay.cli.signals import word
from forebay.reproduction import Cache, CachedResult, Entry, digest, make, replications


def reproduce(
    entry: Entry, label: str, cache: Cache | None, *, seeds: int | None, quick: bool, jobs: int
) -> CachedResult:
    """Return the artefact's cached result; without one, reproduce it and cache it at once."""
    # The key is that of the files before the run.
    key = None if cache is None else digest(entry, replications(seeds, quick), quick)
    cached = None if cache is None or key is None else cache.get(entry, key)
    if cached is not None:
        say(f"{label}: from the cache, {cached.wall_s:.1f} s when it was computed")
        return cached
    with progress(label) as update:
        result = make(entry, seeds=seeds, quick=quick, jobs=jobs, progress=update)
    if cache is not None:
        if key is not None:
            cache.put(entry, key, result)
        say(f"{label}: {result.wall_s:.1f} s")
    return result


@contextmanager
def resumable(cache: Cache | None) -> Iterator[None]:
    """On Ctrl-C, print what is finished and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        if cache is None or not cache.has_any:
            raise
        said = f"{word()}; finished artefacts are kept in {cache.path}"
        raise KeyboardInterrupt(f"{said}, and the same command continues from there") from None
