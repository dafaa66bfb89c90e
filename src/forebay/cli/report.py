"""``forebay report``: prints or draws an answer that is stored as JSON."""

from __future__ import annotations

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
    """Print or draw a stored answer.

    FILE is a document that run, compare, size or trace wrote with --json; - is standard input.
    """
    from forebay.report import draw_answer, print_answer, read_file

    options.check_places((None if path == "-" else path,), figure=figure)
    answer = read_file(path)
    if as_json:
        print_json(answer.to_dict())
    else:
        print_answer(answer)
        answered()
    if figure is not None:
        write("picture", figure, partial(draw_answer, answer))
