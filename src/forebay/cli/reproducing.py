"""One artefact made, or taken from the store."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from forebay.cli.artefacts import Artefact
from forebay.cli.kept import Store, made_by
from forebay.cli.output import say
from forebay.cli.progress import progress
from forebay.cli.signals import word
from forebay.report import Kept


def reproduce(
    artefact: Artefact, label: str, store: Store | None, *, seeds: int, quick: bool, jobs: int
) -> Kept:
    """Return what the store has of this artefact, else make it and keep it at once."""
    if store is None:
        return _make(artefact, label, seeds=seeds, quick=quick, jobs=jobs)
    key = made_by(artefact, seeds, quick)  # of the files as they are before it is made
    kept = store.get(artefact, key)
    if kept is not None:
        say(f"{label}: kept from before, {kept.wall_s:.1f} s then")
        return kept
    kept = _make(artefact, label, seeds=seeds, quick=quick, jobs=jobs)
    store.put(artefact, key, kept)
    say(f"{label}: {kept.wall_s:.1f} s")
    return kept


def _make(artefact: Artefact, label: str, *, seeds: int, quick: bool, jobs: int) -> Kept:
    function = artefact.load()
    # An artefact that only calculates has nothing to shorten, and need not take the argument.
    knows = "quick" in inspect.signature(function).parameters
    shorter: dict[str, Any] = {"quick": True} if quick and knows else {}
    began = time.monotonic()
    with progress(label) as update:
        made = function(seeds=seeds, jobs=jobs, progress=update, **shorter)
    return Kept(made, seeds, quick, time.monotonic() - began)


@contextmanager
def resumable(store: Store | None) -> Iterator[None]:
    """Say on Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if store is None or not store.has_any:
            raise
        said = f"{word()}; what is finished is kept in {store.folder}"
        raise KeyboardInterrupt(f"{said}, and the same command goes on from there") from None
