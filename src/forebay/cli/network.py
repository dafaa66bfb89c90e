"""``forebay network``: the steady state of a whole network, for all links and connections."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from forebay import networks
from forebay.cli import options
from forebay.cli.output import answered, print_json, progress, write


@click.command("network")
@click.argument("path", metavar="TOPOLOGY")
@options.overrides
@click.option(
    "--connections", type=click.IntRange(1, 10_000_000), default=1000, show_default=True,
    metavar="N", help="For a GraphML or SNDlib file: number of connections.",
)  # fmt: skip
@click.option(
    "--rate", default="10 Gbit/s", show_default=True,
    help="For a GraphML or SNDlib file: capacity of links without one.",
)  # fmt: skip
@click.option(
    "--links", type=options.OutputPath(".csv", ".parquet"), metavar="FILE.csv",
    help="Write every link; .parquet works too, here and below.",
)  # fmt: skip
@click.option(
    "--paths", type=options.OutputPath(".csv", ".parquet"), metavar="FILE.csv",
    help="Write every path: its connections' throughput, and the link with the most loss.",
)  # fmt: skip
@click.option(
    "--sensitivities", type=options.OutputPath(".csv", ".parquet"), metavar="FILE.csv",
    help="Write the change of throughputs in per cent for 1 % more buffer at a link.",
)  # fmt: skip
@click.option(
    "--graphml", type=options.OutputPath(".graphml"), metavar="FILE.graphml",
    help="Write routers and links with their metrics.",
)  # fmt: skip
@click.option(
    "--starts", type=click.IntRange(1, 1000), default=None, metavar="N",
    help="Solve again from N random states and count the fixed points.",
)  # fmt: skip
@click.option(
    "--smallest-buffers",
    is_flag=True,
    help="Find the smallest buffer of each class of links that meets the goals, and use it.",
)
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    connections: int,
    rate: str,
    links: Path | None,
    paths: Path | None,
    sensitivities: Path | None,
    graphml: Path | None,
    starts: int | None,
    smallest_buffers: bool,
    figure: Path | None,
    as_json: bool,
) -> None:
    """A whole network: every link, and every class of connections.

    TOPOLOGY is a scenario with a [topology], such as scenarios/abilene-fast-edge-small.toml, or a
    GraphML or SNDlib XML file.
    """
    scenario = networks.load(path, overrides, connections=connections, rate=rate)
    outputs = {"links": links, "paths": paths, "sensitivities": sensitivities, "graphml": graphml}
    options.check_outputs(path, scenario, **outputs, figure=figure)
    for table in (links, paths, sensitivities):
        if table is not None:
            networks.check_format(table)
    if smallest_buffers and starts is not None:
        raise click.UsageError("--starts and --smallest-buffers exclude each other; leave one out")
    with progress("network") as update:
        if smallest_buffers:
            answer = networks.smallest_buffers(scenario, update)
        else:
            answer = networks.solve(scenario, update, starts=starts or 0)
    if as_json:
        print_json(answer.outcome.to_dict())
    else:
        from forebay.report import print_network

        print_network(answer.outcome)
        answered()
    writers = (
        answer.write_links, answer.write_paths, answer.write_sensitivities, answer.to_graphml
    )  # fmt: skip
    for (what, target), writer in zip(outputs.items(), writers, strict=True):
        if target is not None:
            write(what, target, writer)
    if figure is not None:
        from forebay.report.figures.network import draw_network

        write("picture", figure, partial(draw_network, answer.outcome, answer.drawing))
