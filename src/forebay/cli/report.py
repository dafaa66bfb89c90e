"""``forebay report``: an answer stored as JSON, printed or drawn again."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from forebay.cli import options
from forebay.cli.output import answered, print_json, write


@click.command("report")
@click.argument("path", metavar="FILE|-")
@options.figure
@options.as_json
def command(path: str, figure: Path | None, as_json: bool) -> None:
    """Print or draw again what another command printed with --json.

    FILE is such a document of run, compare, size or trace; - reads it from standard input.
    """
    from forebay.report import draw_answer, print_answer, read_answer

    source = "standard input" if path == "-" else path
    options.check_places((None if path == "-" else path,), figure=figure)
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    answer = read_answer(raw, source)
    if as_json:
        print_json(answer.to_dict())
    else:
        print_answer(answer)
        answered()
    if figure is not None:
        write("picture", figure, partial(draw_answer, answer))
