"""``forebay run``: one answer from one engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.api.run import kept_flows
from forebay.cli import options
from forebay.cli.output import answered, print_json, progress, say, write, written


@click.command("run")
@options.link
@options.effort("engine", "seed", "jobs", "memory_limit", "budget", "store", seeds=options.seeds(1))
@click.option(
    "--capture", type=options.OutputPath(".pcapng"), metavar="FILE.pcapng",
    help="Write the packets that leave each link; with --seeds 1.",
)  # fmt: skip
@click.option(
    "--flows", "tables", type=options.FlowsOrTable(".csv", ".parquet"), multiple=True,
    metavar="FILE.csv|.parquet",
    help="Write a row for each flow or transfer: bytes, losses, times; simulation only. "
    "Without a scenario also the number of long flows.",
)  # fmt: skip
@click.option(
    "--packets", type=options.OutputPath(".csv", ".parquet"), metavar="FILE.csv|.parquet",
    help="Write what becomes of each packet at each link; simulation only, with --seeds 1.",
)  # fmt: skip
@click.option(
    "--counters", metavar="NAMES", default="",
    help="Also count by snmp, netflow or both (snmp,netflow), next to the router: testbed only.",
)  # fmt: skip
@options.figure
@options.as_json
def command(
    path: str | None,
    overrides: tuple[str, ...],
    effort: dict[str, Any],
    capture: Path | None,
    tables: tuple[Path | None, ...],
    packets: Path | None,
    counters: str,
    figure: Path | None,
    as_json: bool,
) -> None:
    """One answer from one engine.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml; without one, a link in options.
    """
    flows = next((each for each in tables if each is not None), None)
    scenario = options.load(path, overrides)
    options.check_outputs(
        path or "", scenario, capture=capture, flows=flows, packets=packets, figure=figure
    )
    if figure is not None and flows is None:
        raise click.UsageError("--figure draws the table of flows; write --flows FILE too")
    with progress(effort["engine"]) as update:
        outcome = forebay.run(
            scenario, progress=update, capture=capture, flows=flows, packets=packets, **effort,
            counters=[name.strip() for name in counters.split(",") if name.strip()],
        )  # fmt: skip
    if capture is not None:
        written.append(f"capture {capture}")
        say(f"capture: {capture}")
    if packets is not None:
        written.append(f"packets {packets}")
        say(f"packets: {packets}")
    if flows is not None:
        written.append(f"flows {flows}")
        say(f"flows: {flows} ({kept_flows(outcome).rows} rows; a flow that never began has none)")
    if figure is not None:
        _draw(outcome, figure)
    if as_json:
        print_json(outcome.to_dict())
        return
    report.print_outcome(outcome)
    answered()


def _draw(outcome: forebay.Outcome, figure: Path) -> None:
    table = outcome.flows()
    if report.figures.can_draw(outcome, table):
        write("picture", figure, partial(report.figures.draw_flows, outcome, table))
    else:
        say("picture: none was drawn, because no flow sent in the measured window")
