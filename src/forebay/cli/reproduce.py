"""``forebay reproduce``: the papers' tables and figures against the published values."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

import forebay
from forebay.cli import options
from forebay.cli.artefacts import Artefact, choose, find_all
from forebay.cli.kept import Store
from forebay.cli.measuring import measure
from forebay.cli.output import answered, print_json, write
from forebay.cli.reproducing import reproduce, resumable
from forebay.report import Kept, Reproduction, count, in_words, print_reproduction, row_name

_SEEDS, _QUICK_SEEDS, _TESTBED_SEEDS = 5, 2, 3


@click.command("reproduce")
@click.argument("name", metavar="[ARTEFACT]", required=False)
@click.option("--list", "only_list", is_flag=True, help="List the artefacts and exit.")
@click.option("--all", "every", is_flag=True, help="Every artefact, one after another.")
@click.option("--quick", is_flag=True, help="Fewer seeds and shorter windows, for the same claims.")
@click.option(
    "--seeds", type=options.WholeNumber(1, 100_000), metavar="K",
    help=f"Replications, with seeds 1, 2, …  [default: {_SEEDS}; {_QUICK_SEEDS} with --quick, "
    f"{_TESTBED_SEEDS} with --testbed]",
)  # fmt: skip
@click.option(
    "--testbed", is_flag=True,
    help="Play ARTEFACT's runs on this machine's own TCP and record them (root; real time).",
)  # fmt: skip
@click.option("--again", is_flag=True, help="With --testbed: also the runs that are recorded.")
@options.jobs
@options.figure
@click.option(
    "--report",
    type=options.OutputPath(".html", ".htm"),
    help="Write all of it into one .html page.",
)
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Keep the results there and use those that are there again.  [default: with several "
    "artefacts build/reproduce in the repository]",
)  # fmt: skip
@options.as_json
def command(
    name: str | None,
    only_list: bool,
    every: bool,
    quick: bool,
    seeds: int | None,
    testbed: bool,
    again: bool,
    jobs: int,
    figure: Path | None,
    report: Path | None,
    store: Path | None,
    as_json: bool,
) -> int:
    """The papers' tables and figures against the published values.

    ARTEFACT is paper and place, such as A.fig15; without it, or with --all, all of them. A row
    out of its band makes the exit status 1. An interrupted run of all goes on where it stopped.

    With --testbed the runs are only recorded, in the artefact's folder; without it they are shown
    as recorded.
    """
    if name is not None and not name.strip():
        raise click.UsageError("ARTEFACT is empty; write one, such as A.fig15, or --all")
    if every and name:
        raise click.UsageError(f"--all does every artefact; leave out {name} or --all")
    artefacts = find_all()
    if only_list:
        _list(artefacts, as_json)
        return 0
    chosen = choose(artefacts, name) if name else artefacts
    if testbed or again:
        _check_testbed(name, testbed)
        return measure(chosen[0], seeds=seeds or _TESTBED_SEEDS, again=again)
    if figure is not None and len(chosen) != 1:
        raise click.UsageError("--figure draws one artefact; name it, e.g. A.fig15")
    kept_in = _store(store, chosen[0], several=name is None)
    seeds = seeds or (_QUICK_SEEDS if quick else _SEEDS)
    results = []
    for place, artefact in enumerate(chosen, start=1):
        label = artefact.name if name else f"{place}/{len(chosen)} {artefact.name}"
        with resumable(kept_in):
            kept = reproduce(artefact, label, kept_in, seeds=seeds, quick=quick, jobs=jobs)
        results.append(kept)
        if not as_json:
            print_reproduction(kept.made)
            answered()
    made = [result.made for result in results]
    if as_json:
        _print(made, one=name is not None)
    elif name is None:
        _sum_up(made)
    if figure is not None:
        write("picture", figure, partial(_draw, made[0]))
    if report is not None:
        write("report", report, partial(_report, results))
    return 0 if all(each.agrees for each in made) else 1


def _check_testbed(name: str | None, testbed: bool) -> None:
    if not testbed:
        raise click.UsageError("--again repeats what is recorded: write it beside --testbed")
    if name is None:
        raise click.UsageError("--testbed plays one artefact; name it, e.g. A.fig15")


def _store(asked: Path | None, artefact: Artefact, *, several: bool) -> Store | None:
    if asked is not None:
        return Store(asked)
    repository = artefact.path.parents[3]
    return Store(repository / "build" / "reproduce") if several else None


def _print(made: list[Reproduction], *, one: bool) -> None:
    if one:
        print_json(made[0].to_dict())
    else:
        counts = [each.to_dict() for each in count(made)]
        print_json({"schema": 1, "artefacts": [each.to_dict() for each in made], "counts": counts})


def _sum_up(made: list[Reproduction]) -> None:
    """Say once more, after all the tables, which rows are out of their band."""
    rows = [verdict for each in made for verdict in each.verdicts]
    click.echo(f"\n{len(made)} artefacts: {sum(rows)} of {len(rows)} rows lie in their band.")
    for line in in_words(count(made)):
        click.echo(f"  {line}")
    unjudged = sum(len(each.unjudged) for each in made)
    if unjudged:
        click.echo(f"  Shown without a verdict, for they could not fail: {unjudged}.")
    for each in made:
        for row, verdict, reason in zip(each.rows, each.verdicts, each.reasons, strict=True):
            if not verdict:
                click.echo(f"OUT {each.artefact} {row_name(each, row)}: {reason}")


def _draw(made: Reproduction, path: Path) -> None:
    from forebay.report.figures import draw_reproduction

    draw_reproduction(made, path)


def _report(results: list[Kept], path: Path) -> None:
    from forebay.report.html import write_page

    write_page(results, path, version=forebay.__version__)


def _list(artefacts: list[Artefact], as_json: bool) -> None:
    if as_json:
        print_json({"schema": 1, "artefacts": [artefact.name for artefact in artefacts]})
        return
    for artefact in artefacts:
        click.echo(artefact.name)
