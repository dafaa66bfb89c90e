"""``forebay report``: prints or draws an answer that is stored as JSON."""

from pathlib import Path

from forebay import report
from forebay.cli import options
from forebay.cli.output import show, write


@options.as_command("report")
def command(
    path: str = options.argument("FILE|-"),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> None:
    """Print or draw a stored answer.

    FILE is a document that run, compare, size, sensitivity or trace wrote with --json; - is
    standard input.
    """
    options.check_places((None if path == "-" else path,), figure=figure)
    answer = report.read_file(path)
    show(answer, as_json, report.print_answer)
    write("picture", figure, lambda to: report.draw_answer(answer, to))
