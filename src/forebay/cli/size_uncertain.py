"""``forebay size --uncertain``: the size that holds in 95 % of what the inputs may be."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, naming_signal, print_json, progress, say, write


def size_draws(
    path: str,
    scenario: forebay.Scenario,
    ranges: dict[str, Any],
    how: dict[str, Any],
    figure: Path | None,
    as_json: bool,
) -> int:
    """Size a scenario in draws, print the answer, and return the exit status.

    Parameters
    ----------
    how : further parameters of `forebay.size_uncertain`.
    """
    options.check_outputs(path, scenario, figure=figure, store=how["store"])
    with progress("sizing in draws") as update, naming_signal():
        found = forebay.size_uncertain(scenario, ranges, announce=say, progress=update, **how)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
        answered()
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, found))
    return found.exit_status
