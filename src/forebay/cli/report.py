"""``forebay report``: prints or draws an answer that is stored as JSON."""

from functools import partial
from pathlib import Path

import click

from forebay import SizeResult, report
from forebay.cli import options
from forebay.cli.output import show, write


@options.as_command("report")
def command(
    path: str = options.argument("FILE|-"),
    explain: bool = options.flag("Of a sizing: print all evidence too."),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """Print or draw a stored answer.

    FILE is a document that run, compare, size, sensitivity, trace or network wrote with --json; -
    is standard input.
    """
    options.check_places((None if path == "-" else path,), figure=figure)
    answer = report.read_file(path)
    if explain and not isinstance(answer, SizeResult):
        wrong = f"{path!r} has no further evidence; leave it out"
        raise click.BadParameter(wrong, param_hint="--explain")
    printer = partial(report.print_size, explain=True) if explain else report.print_answer
    show(answer, as_json, printer)
    write("picture", figure, lambda to: report.draw_answer(answer, to))
