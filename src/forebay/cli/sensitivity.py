"""``forebay sensitivity``: which input moves the smallest buffer how much."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, naming_signal, print_json, progress, say, write


@click.command("sensitivity")
@options.scenario
@options.uncertain
@click.option(
    "--change", type=options.Number(0, 1, min_open=True, max_open=True), default=0.2,
    show_default=True, metavar="SHARE",
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
@options.effort(
    "seed", "jobs", "memory_limit", "store", seeds=options.seeds(5),
    engine=click.option(
        "--engine", cls=options.EngineOption, default="theory", show_default=True, metavar="NAME"
    ),
    budget=click.option(
        "--budget", metavar="TIME", default=None,
        help='Of a simulation: predicted time of one sizing on one core, e.g. "20 s".  [default: '
        "60 s]",
    ),
)  # fmt: skip
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    uncertain: tuple[str, ...],
    change: float,
    method: str | None,
    draws: int,
    effort: dict[str, Any],
    figure: Path | None,
    as_json: bool,
) -> int:
    """Which input moves the smallest buffer how much.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml. Rate, flows, round trips, load, starts
    and shares of congestion controls are changed, or what --uncertain names.
    """
    scenario = forebay.load(path, overrides)
    options.check_outputs(path, scenario, figure=figure, store=effort["store"])
    with progress("sensitivity") as update, naming_signal():
        found = forebay.sensitivity(
            scenario, change=change, uncertain=options.ranges(uncertain) or None,
            method=method, draws=draws, announce=say, progress=update, **effort,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
        answered()
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, found))
    return 0 if found.packets is not None else 3
