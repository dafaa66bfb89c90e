"""``forebay sensitivity``: which input moves the smallest buffer how much."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

import forebay
from forebay.cli import options
from forebay.cli.output import answered, naming_signal, print_json, progress, say, write


@click.command("sensitivity")
@options.scenario
@click.option(
    "--engine", cls=options.EngineOption, default="theory", show_default=True, metavar="NAME"
)
@options.uncertain
@click.option(
    "--change", type=options.Number(0, 1), default=0.2, show_default=True, metavar="SHARE",
    help="How far each input is changed, down and up, without --uncertain.",
)  # fmt: skip
@click.option(
    "--method", default=None, metavar="NAME",
    help="one-at-a-time, or sobol for shares of the variance beside it.  [default: sobol if it "
    "takes up to a minute]",
)  # fmt: skip
@click.option(
    "--draws", type=options.WholeNumber(8, 65_536), default=64, show_default=True, metavar="N",
    help="Rows of Sobol's design, a power of 2.",
)  # fmt: skip
@options.seed
@options.seeds(5)
@options.jobs
@options.memory_limit
@click.option(
    "--budget", metavar="TIME", default=None,
    help='Of a simulation: predicted time of one sizing on one core, e.g. "20 s".  [default: 60 s]',
)  # fmt: skip
@options.store
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    engine: str,
    uncertain: tuple[str, ...],
    change: float,
    method: str | None,
    draws: int,
    seed: int,
    seeds: int,
    jobs: int,
    memory_limit: str | None,
    budget: str | None,
    store: Path | None,
    figure: Path | None,
    as_json: bool,
) -> int:
    """Which input moves the smallest buffer how much.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml. Rate, flows, round trips, load, starts
    and shares of congestion controls are changed, or what --uncertain names.
    """
    scenario = forebay.load(path, overrides)
    options.check_outputs(path, scenario, figure=figure, store=store)
    with progress("sensitivity") as update, naming_signal():
        found = forebay.sensitivity(
            scenario, engine, change=change, uncertain=options.ranges(uncertain) or None,
            method=method, draws=draws, seeds=seeds, seed=seed, budget=budget, store=store,
            jobs=jobs, memory_limit=memory_limit, announce=say, progress=update,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
        answered()
    if figure is not None:
        write("picture", figure, partial(_draw, found))
    return 0 if found.packets is not None else 3


def _draw(found: forebay.Sensitivity, path: Path) -> None:
    from forebay.report.figures.study import save_figure

    save_figure(found.figure(), path)
