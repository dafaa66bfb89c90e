"""``forebay testbed``: what this machine can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forebay.api import testbed
from forebay.cli import options
from forebay.cli.output import show

if TYPE_CHECKING:
    from forebay.api.testbed import Check, Trial

_CANNOT = 3


@click.group("testbed")
def command() -> None:
    """Check if this machine can run a scenario on the testbed, and up to which rate."""


@options.as_command("check", command)
def check(
    source: options.Source = options.scenario_from("[SCENARIO]"),
    as_json: bool = options.as_json,
) -> int:
    """Run a few seconds of SCENARIO, then of rising rates, and say which meet the timing limits.

    Without SCENARIO only the rates are run. The exit status is 3 if the limits are not met.
    """
    options.check_owners(overrides="path")
    scenario = None if source.path is None else source.load()
    result = testbed.check(scenario, on_trial=_tell)
    show(_document(result), as_json, lambda _: click.echo(_answer(result)))
    return 0 if result.holds else _CANNOT


def _tell(trial: Trial) -> None:
    said = "held" if trial.holds else "not held: " + "; ".join(trial.faults)
    click.echo(f"{trial.rate}: {said}", err=True)


def _answer(result: Check) -> str:
    able = "no rate that was tried" if result.rate is None else f"{result.rate}"
    held = f"this machine can run {able} now (100 Reno flows)"
    if result.scenario is None:
        return held
    return f"{'yes' if result.scenario.holds else 'no'}; {held}"


def _document(result: Check) -> dict[str, object]:
    return {
        "schema": 1,
        "holds": result.holds,
        "rate_bps": None if result.rate is None else float(result.rate),
        "scenario": None if result.scenario is None else _row(result.scenario),
        "ladder": [_row(trial) for trial in result.ladder],
    }


def _row(trial: Trial) -> dict[str, object]:
    rate = float(trial.rate)
    return {"rate_bps": rate, "holds": trial.holds, "faults": trial.faults, "gate": trial.gate}
