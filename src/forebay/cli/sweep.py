"""``forebay sweep``: many runs, stored, here or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import naming_signal, progress, say, show, write
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.report import StudyTable

_SHOWN = 60
"""Cells that are printed; the file of ``--export`` has all."""


@options.as_command("sweep")
def command(
    source: options.Source = options.scenario_from("GRID"),
    effort: dict[str, Any] = options.effort(
        "engine seed seeds jobs memory_limit store",
        engine=options.text("NAME", "Instead of the grid's engine."),
        seed=options.number("N", 0, 2**63 - 1, "First seed.  [default: the grid's, else 1]"),
        seeds=options.number(
            "K", 1, 100_000, "Replications of each cell.  [default: the grid's, else 5]"),
        jobs=options.number(
            "N", 0, 1024, "Workers here; 0, the default, means one per core. The rows do not "
            "depend on it.", default=0, show_default=False)),
    cluster: str | None = options.text(
        "ADDRESS", "Run on the workers of this Dask scheduler, e.g. tcp://10.0.0.1:8786."),
    wait: str = options.text(
        "TIME", "How long the cluster may have no worker before the study ends.", default="60 s"),
    status: bool = options.flag("Check and count the cells, and run nothing; with --store."),
    export: Path | None = options.file(
        ".csv .parquet FILE",
        "Write the table, a row a replication, into a .csv or .parquet file."),
    figure: Path | None = options.figure,
    html: Path | None = options.file(
        ".html FILE.html", "Write the picture and the table as one page that opens anywhere."),
    roles: dict[str, str | None] = options.together(
        x=options.text("AXIS", "Of the figure; default: the first axis."),
        y=options.text(
            "METRIC", "Of the figure, or the second axis of a map.  [default: "
            "link.bottleneck.utilization; of a network the link that loses most]"),
        colour=options.text(
            "AXIS", "A curve for each value; of a map: the metric.  [default: the second axis]"),
        facet=options.text("AXIS", "A panel for each value.  [default: the third axis]")),
    as_json: bool = options.as_json,
) -> int:  # fmt: skip
    """Many runs: a scenario with every combination of values, stored.

    GRID is a TOML file: a base scenario, and [axes] with values such as "queue.size" =
    ["64 packets", "129 packets"].
    """
    grid = source.path or ""
    options.check_owners(**dict.fromkeys(roles, "figure html"), wait="cluster")
    places = {"export": export, "figure": figure, "html": html}
    options.check_places((grid,), store=effort["store"], **places)
    with progress("sweep") as update, naming_signal():
        if figure is not None or html is not None:
            own = {**effort, "store": None}
            plan = forebay.sweep(grid, overrides=source.overrides, only_plan=True, **own)
            plan.check_figure(**roles)
        result = forebay.sweep(
            grid, overrides=source.overrides, cluster=cluster, wait=wait, only_plan=status,
            announce=say, progress=update, **effort,
        )  # fmt: skip
        table = None if as_json or status else result.summary()
        picture: Any = None
        page, refused = "", None
        try:
            picture = None if figure is None else result.figure(**roles)
            page = "" if html is None else result.to_html(**roles)
        except forebay.ForebayError as error:
            refused = error  # it is raised when the table is printed
    show(result, as_json, lambda _: _print(result, table, status))
    write("table", export, result.export)
    for failure in result.failures[:1]:
        say(f"{result.failed:,} runs failed, the first: {failure}")
    if refused is not None:
        raise refused
    write("picture", figure, lambda path: report.figures.save(picture, path))
    write("page", html, lambda path: write_text(page, path))
    return result.exit_status


def _print(result: forebay.Sweep, table: StudyTable | None, status: bool) -> None:
    if status:
        click.echo(f"{result.stored:,} of {result.runs:,} runs are stored")
    if table is not None:
        report.print_study(table, _SHOWN)
