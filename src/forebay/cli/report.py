"""``forebay report``: prints or draws an answer that is stored as JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, print_json, write


@click.command("report")
@click.argument("path", metavar="FILE|-")
@options.figure
@options.as_json
def command(path: str, figure: Path | None, as_json: bool) -> None:
    """Print or draw a stored answer.

    FILE is a document that run, compare, size, sensitivity or trace wrote with --json; - is
    standard input.
    """
    options.check_places((None if path == "-" else path,), figure=figure)
    answer = report.read_file(path)
    if as_json:
        print_json(answer.to_dict())
    else:
        report.print_answer(answer)
        answered()
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, answer))
