"""``forebay reproduce``: the papers' tables and figures against the published values."""

from __future__ import annotations

from pathlib import Path

import click

from forebay.cli import options
from forebay.cli.artefacts import Artefact, choose, find_all
from forebay.cli.output import print_json, say_drawn
from forebay.cli.progress import progress
from forebay.report import Reproduction, print_reproduction


@click.command("reproduce")
@click.argument("name", metavar="[ARTEFACT]", required=False)
@click.option("--list", "only_list", is_flag=True, help="List the artefacts and exit.")
@options.seeds(5)
@options.jobs
@options.figure
@options.as_json
def command(
    name: str | None, only_list: bool, seeds: int, jobs: int, figure: Path | None, as_json: bool
) -> int:
    """The papers' tables and figures against the published values.

    ARTEFACT is paper and place, such as A.fig15; without it, all of them. A row out of its
    band makes the exit status 1.
    """
    artefacts = find_all()
    if only_list:
        _list(artefacts, as_json)
        return 0
    chosen = choose(artefacts, name) if name else artefacts
    if figure is not None and len(chosen) != 1:
        raise click.UsageError("--figure draws one artefact; name it, e.g. A.fig15")
    made = [_reproduce(artefact, seeds, jobs) for artefact in chosen]
    if figure is not None:
        _draw(made[0], figure)
    _show(made, as_json, one=name is not None)
    return 0 if all(each.agrees for each in made) else 1


def _reproduce(artefact: Artefact, seeds: int, jobs: int) -> Reproduction:
    with progress(artefact.name) as update:
        return artefact.load()(seeds=seeds, jobs=jobs, progress=update)


def _show(made: list[Reproduction], as_json: bool, *, one: bool) -> None:
    if not as_json:
        for each in made:
            print_reproduction(each)
    elif one:
        print_json(made[0].to_dict())
    else:
        print_json({"schema": 1, "artefacts": [each.to_dict() for each in made]})


def _draw(made: Reproduction, path: Path) -> None:
    from forebay.report.figures import draw_reproduction

    draw_reproduction(made, path)
    say_drawn(path)


def _list(artefacts: list[Artefact], as_json: bool) -> None:
    if as_json:
        print_json({"schema": 1, "artefacts": [artefact.name for artefact in artefacts]})
        return
    for artefact in artefacts:
        click.echo(artefact.name)
