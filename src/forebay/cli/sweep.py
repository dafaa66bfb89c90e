"""``forebay sweep``: many runs, stored, here or on a cluster."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, naming_signal, print_json, progress, say, write
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.report import StudyTable

_SHOWN = 60
"""Cells that are printed; the file of ``--export`` has all."""


@click.command("sweep")
@click.argument("path", metavar="GRID")
@options.overrides
@options.effort(
    "memory_limit", "store",
    engine=click.option(
        "--engine", default=None, metavar="NAME", help="Instead of the grid's engine."
    ),
    seed=click.option(
        "--seed", type=options.WholeNumber(0, 2**63 - 1), default=None, metavar="N",
        help="First seed.  [default: the grid's, else 1]",
    ),
    seeds=click.option(
        "--seeds", type=options.WholeNumber(1, 100_000), default=None, metavar="K",
        help="Replications of each cell.  [default: the grid's, else 5]",
    ),
    jobs=click.option(
        "--jobs", type=options.WholeNumber(0, 1024), default=0, metavar="N",
        help="Workers here; 0, the default, means one per core. The rows do not depend on it.",
    ),
)  # fmt: skip
@click.option(
    "--cluster", metavar="ADDRESS", default=None,
    help="Run on the workers of this Dask scheduler, e.g. tcp://10.0.0.1:8786.",
)  # fmt: skip
@click.option(
    "--wait", metavar="TIME", default="60 s", show_default=True,
    help="How long the cluster may have no worker before the study ends.",
)  # fmt: skip
@click.option(
    "--status", is_flag=True, help="Check and count the cells, and run nothing; with --store."
)
@click.option(
    "--export", type=options.OutputPath(".csv", ".parquet"), metavar="FILE",
    help="Write the table, a row a replication, into a .csv or .parquet file.",
)  # fmt: skip
@options.figure
@click.option(
    "--html", type=options.OutputPath(".html"), metavar="FILE.html",
    help="Write the picture and the table as one page that opens anywhere.",
)  # fmt: skip
@click.option("--x", metavar="AXIS", default=None, help="Of the figure; default: the first axis.")
@click.option(
    "--y", metavar="METRIC", default=None,
    help="Of the figure, or the second axis of a map.  [default: link.bottleneck.utilization; of a "
    "network the link that loses most]",
)  # fmt: skip
@click.option(
    "--colour", metavar="AXIS", default=None,
    help="A curve for each value; of a map: the metric.  [default: the second axis]",
)  # fmt: skip
@click.option(
    "--facet", metavar="AXIS", default=None,
    help="A panel for each value.  [default: the third axis]",
)  # fmt: skip
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    effort: dict[str, Any],
    cluster: str | None,
    wait: str,
    status: bool,
    export: Path | None,
    figure: Path | None,
    html: Path | None,
    x: str | None,
    y: str | None,
    colour: str | None,
    facet: str | None,
    as_json: bool,
) -> int:
    """Many runs: a scenario with every combination of values, stored.

    GRID is a TOML file: a base scenario, and [axes] with values such as "queue.size" =
    ["64 packets", "129 packets"].
    """
    options.check_places((path,), store=effort["store"], export=export, figure=figure, html=html)
    roles = {"x": x, "y": y, "colour": colour, "facet": facet}
    with progress("sweep") as update, naming_signal():
        if figure is not None or html is not None:
            own = {**effort, "store": None}
            forebay.sweep(path, overrides=overrides, only_plan=True, **own).check_figure(**roles)
        result = forebay.sweep(
            path, overrides=overrides, cluster=cluster, wait=wait, only_plan=status,
            announce=say, progress=update, **effort,
        )  # fmt: skip
        table = None if as_json or status else result.summary()
        drawn = _drawn(result, roles, figure is not None, html is not None)
    _show(result, table, status, as_json)
    if export is not None:
        write("table", export, result.export)
    for failure in result.failures[:1]:
        say(f"{result.failed:,} runs failed, the first: {failure}")
    if isinstance(drawn, forebay.ForebayError):
        raise drawn
    picture, page = drawn
    if picture is not None and figure is not None:
        write("picture", figure, partial(report.figures.save, picture))
    if html is not None:
        write("page", html, partial(write_text, page))
    return result.exit_status


def _drawn(
    result: forebay.Sweep, roles: dict[str, str | None], is_drawn: bool, has_page: bool
) -> tuple[Any, str] | forebay.ForebayError:
    """Return the picture and the page, or why there is none: the table is printed before that."""
    try:
        picture = result.figure(**roles) if is_drawn else None
        return picture, result.to_html(**roles) if has_page else ""
    except forebay.ForebayError as error:
        return error


def _show(result: forebay.Sweep, table: StudyTable | None, status: bool, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    if status:
        click.echo(f"{result.stored:,} of {result.runs:,} runs are stored")
    if table is not None:
        report.print_study(table, _SHOWN)
    answered()
