"""``forebay report``: prints or draws an answer that is stored as JSON."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from forebay.cli import options
from forebay.cli.output import answered, print_json, write

_MOST_BYTES = 256 * 1024 * 1024
"""A trace of every flow's window has tens of MB; a device file has no end."""


@click.command("report")
@click.argument("path", metavar="FILE|-")
@options.figure
@options.as_json
def command(path: str, figure: Path | None, as_json: bool) -> None:
    """Print or draw a stored answer.

    FILE is a document that run, compare, size or trace wrote with --json; - is standard input.
    """
    from forebay.report import draw_answer, print_answer, read_answer

    source = "standard input" if path == "-" else path
    options.check_places((None if path == "-" else path,), figure=figure)
    answer = read_answer(_read(path, source), source)
    if as_json:
        print_json(answer.to_dict())
    else:
        print_answer(answer)
        answered()
    if figure is not None:
        write("picture", figure, partial(draw_answer, answer))


def _read(path: str, source: str) -> bytes:
    """Return a document's bytes. Raises OSError, or UsageError if it is too large."""
    with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        wrong = f"{source} is longer than {_MOST_BYTES >> 20} MiB"
        raise click.UsageError(f"{wrong}; name a file that another command wrote with --json")
    return raw
