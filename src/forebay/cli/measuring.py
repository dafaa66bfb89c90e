"""``forebay reproduce --testbed``: runs an artefact on this machine's own TCP and records it."""

from __future__ import annotations

import click

from forebay.cli.output import progress, say
from forebay.cli.signals import word
from forebay.reproduction import Entry, MeasuredArtefact

_CANNOT = 3


def measure(entry: Entry, *, seeds: int, again: bool) -> int:
    """Run what is not recorded yet; return the exit status.

    Raises
    ------
    UsageError
        The artefact has no testbed part.
    """
    artefact = entry.load()
    if not isinstance(artefact, MeasuredArtefact):
        raise click.UsageError(f"{entry.name} has no testbed part; leave out --testbed")
    where = f" in {entry.folder}" if entry.folder else ""
    try:
        with progress(f"{entry.name}, testbed") as update:
            failed = artefact.measure(seeds=seeds, progress=update, again=again)
    except KeyboardInterrupt:
        said = f"{word()}; finished runs are recorded{where}"
        raise KeyboardInterrupt(f"{said}, and the same command continues from there") from None
    for line in failed:
        say(f"not recorded: {line}")
    say(f"recorded{where}; `forebay reproduce {entry.name}` shows it")
    return _CANNOT if failed else 0
