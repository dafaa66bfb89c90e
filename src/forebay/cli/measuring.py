"""``forebay reproduce --testbed``: the runs of an artefact on the machine's own TCP, recorded."""

from __future__ import annotations

import click

from forebay.cli.artefacts import Artefact
from forebay.cli.output import say
from forebay.cli.progress import progress

_CANNOT = 3


def measure(artefact: Artefact, *, seeds: int, again: bool) -> int:
    """Play what is not recorded yet; return the exit status.

    Raises
    ------
    UsageError
        The artefact has no testbed part.
    """
    function = artefact.measure()
    if function is None:
        raise click.UsageError(f"{artefact.name} has no testbed part; leave out --testbed")
    try:
        with progress(f"{artefact.name}, testbed") as update:
            failed = function(seeds=seeds, progress=update, again=again)
    except KeyboardInterrupt:
        said = f"interrupted; what is played is recorded in {artefact.path.parent}"
        raise KeyboardInterrupt(f"{said}, and the same command goes on from there") from None
    for line in failed:
        say(f"not recorded: {line}")
    say(f"recorded in {artefact.path.parent}; `forebay reproduce {artefact.name}` shows it")
    return _CANNOT if failed else 0
