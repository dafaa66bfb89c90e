"""``forebay run``: one answer from one engine."""

from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.api.run import kept_flows
from forebay.cli import options
from forebay.cli.output import progress, say, show, write


@options.as_command("run")
def command(
    source: options.Source = options.scenario_or_link(),
    effort: dict[str, Any] = options.effort(
        "engine seed seeds jobs memory_limit budget store", seeds=options.seeds(1)),
    capture: Path | None = options.file(
        ".pcapng FILE.pcapng", "Write the packets that leave each link; with --seeds 1."),
    tables: tuple[Path | str, ...] = options.text(
        "--flows FILE.csv|.parquet",
        "Write a row for each flow or transfer: bytes, losses, times; simulation only. "
        "Without a scenario also the number of long flows.",
        type=options.FlowsOrTable(".csv", ".parquet"), multiple=True),
    packets: Path | None = options.file(
        ".csv .parquet FILE.csv|.parquet",
        "Write what becomes of each packet at each link; simulation only, with --seeds 1."),
    counters: str = options.text(
        "NAMES", "Also count by snmp, netflow or both (snmp,netflow), next to the router: testbed "
        "only.", default="", show_default=False),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """One answer from one engine.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml; without one, a link in options.
    """
    flows = next((each for each in tables if isinstance(each, Path)), None)
    source.link["flows"] = next((each for each in tables if isinstance(each, str)), None)
    if len(tables) > sum(each is not None for each in (flows, source.link["flows"])):
        wrong = "is written twice; write one table, and without a scenario one number"
        raise click.BadParameter(wrong, param_hint="--flows")
    scenario = source.load()
    source.check_outputs(scenario, capture=capture, flows=flows, packets=packets, figure=figure)
    if figure is not None and flows is None:
        raise click.UsageError("--figure draws the table of flows; write --flows FILE too")
    with progress(effort["engine"]) as update:
        outcome = forebay.run(
            scenario, progress=update, capture=capture, flows=flows, packets=packets, **effort,
            counters=[name.strip() for name in counters.split(",") if name.strip()],
        )  # fmt: skip
    write("capture", capture)
    write("packets", packets)
    if flows is not None:
        rows = kept_flows(outcome).rows
        write("flows", flows, more=f" ({rows} rows; a flow that never began has none)")
    if figure is not None:
        table = outcome.flows()
        if report.figures.can_draw(outcome, table):
            write("picture", figure, lambda path: report.figures.draw_flows(outcome, table, path))
        else:
            say("picture: none was drawn, because no flow sent in the measured window")
    show(outcome, as_json, report.print_answer)
