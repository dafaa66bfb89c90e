"""``forebay sensitivity``: which input moves the smallest buffer how much."""

from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import naming_signal, progress, say, show, write


@options.as_command("sensitivity")
def command(
    source: options.Source = options.scenario,
    uncertain: tuple[str, ...] = options.uncertain,
    change: float = options.share(
        "How far each input is changed, down and up, without --uncertain.", default=0.2),
    method: str | None = options.text(
        "NAME", "one-at-a-time, or sobol for shares of the variance beside it.  [default: sobol if "
        "it takes up to a minute]"),
    draws: int = options.number(
        "N", 8, 65_536, "Rows of Sobol's design, a power of 2.", default=64),
    effort: dict[str, Any] = options.effort(
        "engine seed seeds jobs memory_limit budget store",
        engine=options.engine("theory"), seeds=options.seeds(5),
        budget=options.text(
            "TIME", 'Of a simulation: predicted time of one sizing on one core, e.g. "20 s".  '
            "[default: 60 s]")),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> int:  # fmt: skip
    """Which input moves the smallest buffer how much.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml. Rate, flows, round trips, load, starts
    and shares of congestion controls are changed, or what --uncertain names.
    """
    scenario = source.load()
    source.check_outputs(scenario, figure=figure, store=effort["store"])
    with progress("sensitivity") as update, naming_signal():
        answer = forebay.sensitivity(
            scenario, change=change, uncertain=options.ranges(uncertain) or None,
            method=method, draws=draws, announce=say, progress=update, **effort,
        )  # fmt: skip
    show(answer, as_json, click.echo)
    write("picture", figure, lambda path: report.draw_answer(answer, path))
    return 0 if answer.packets is not None else 3
