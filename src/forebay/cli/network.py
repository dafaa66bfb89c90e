"""``forebay network``: the steady state of a whole network, for all links and connections."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forebay import report
from forebay.api import networks
from forebay.api.networks import single_failures
from forebay.cli import options
from forebay.cli.output import announce, answered, print_json, progress, write

if TYPE_CHECKING:
    from forebay import Scenario
    from forebay.api.networks import State, Transient


@click.command("network")
@click.argument("path", metavar="TOPOLOGY")
@options.overrides
@click.option(
    "--connections", type=options.WholeNumber(1, 10_000_000), default=None, metavar="N",
    help="For a network's file: number of greedy connections.  [default: 1000, or none beside "
    "the file's own demand]",
)  # fmt: skip
@click.option(
    "--rate", default=None,
    help="For a network's file: capacity of links without one.  [default: 10 Gbit/s]",
)  # fmt: skip
@click.option(
    "--growth", type=options.Number(1e-3, 1e3), default=None, metavar="FACTOR",
    help="A factor on the offered load, such as 1.5.",
)  # fmt: skip
@click.option(
    "--largest-part", is_flag=True,
    help="Leave out the routers that no link joins to the largest part of the network.",
)  # fmt: skip
@click.option(
    "--both-directions", is_flag=True,
    help="Let directed links of a file that stand once go both ways.",
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
    "--multistart", "--starts", type=options.WholeNumber(1, 1000), default=None, metavar="N",
    help="Solve again from N random states and count the fixed points.",
)  # fmt: skip
@click.option(
    "--failures", is_flag=True,
    help="Take each link down alone, and print the worst link and who loses most, in one table.",
)  # fmt: skip
@click.option(
    "--against", metavar="TOPOLOGY", default=None,
    help="Compare with this design: as they are and with each link down, in one table; --growth "
    "adds a table.",
)  # fmt: skip
@click.option(
    "--smallest-buffers",
    is_flag=True,
    help="Find the smallest buffer of each class of links that meets the goals, and use it.",
)
@click.option(
    "--transient", "duration", metavar="TIME", default=None,
    help='Step the equations of hisamatsu-2007 through this time, e.g. "2 s".',
)  # fmt: skip
@click.option(
    "--from", "start", metavar="SCENARIO", default=None,
    help="With --transient: begin at the steady state of this scenario, as its file has it; not "
    "set: windows of one packet and empty queues.",
)  # fmt: skip
@click.option(
    "--step", metavar="TIME", default=None,
    help="With --transient: the time slot; not set: short enough for the fastest link.",
)  # fmt: skip
@click.option(
    "--series", type=options.OutputPath(".csv", ".parquet"), metavar="FILE.csv",
    help="With --transient: write every series over time.",
)  # fmt: skip
@options.memory_limit
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    connections: int | None,
    rate: str | None,
    growth: float | None,
    largest_part: bool,
    both_directions: bool,
    links: Path | None,
    paths: Path | None,
    sensitivities: Path | None,
    graphml: Path | None,
    multistart: int | None,
    failures: bool,
    against: str | None,
    smallest_buffers: bool,
    duration: str | None,
    start: str | None,
    step: str | None,
    series: Path | None,
    memory_limit: str | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """A whole network: every link, and every class of connections.

    TOPOLOGY is a scenario with a [topology], such as scenarios/abilene-fast-edge-small.toml, or a
    GraphML, GML, SNDlib XML or REPETITA file, whose demand is then offered load.
    """
    if growth is not None and against is None:
        overrides = (*overrides, f"topology.demand_growth={growth}")
    if largest_part:
        overrides = (*overrides, "topology.largest_part=true")
    if both_directions:
        overrides = (*overrides, "topology.both_directions=true")
    scenario = networks.load(path, overrides, connections=connections, rate=rate)
    outputs = {"links": links, "paths": paths, "sensitivities": sensitivities, "graphml": graphml}
    options.check_outputs(path, scenario, **outputs, series=series, figure=figure)
    for table in (links, paths, sensitivities, series):
        if table is not None:
            networks.check_file(table)
    if against is not None:
        alone = {"multistart": multistart, "smallest-buffers": smallest_buffers or None}
        _check_alone("--against", outputs | alone | {"figure": figure, "transient": duration})
        _check_transient({"from": start, "step": step, "series": series})
        other = networks.load(against, overrides, connections=connections, rate=rate)
        compare((path, scenario), (against, other), growth, as_json)
        return
    if duration is not None:
        others = outputs | {"multistart": multistart, "smallest-buffers": smallest_buffers or None}
        _check_alone("--transient", others | {"failures": failures or None})
        before = None if start is None else _before(start, connections, rate)
        _transient(scenario, duration, before, step, series, figure, as_json)
        return
    if failures:
        alone = {"multistart": multistart, "smallest-buffers": smallest_buffers or None}
        _check_alone("--failures", outputs | alone | {"figure": figure})
        _check_transient({"from": start, "step": step, "series": series})
        _failures(scenario, as_json)
        return
    _check_transient({"from": start, "step": step, "series": series})
    if smallest_buffers and multistart is not None:
        wrong = "--multistart and --smallest-buffers exclude each other; leave one out"
        raise click.UsageError(wrong)
    with progress("network") as update:
        if smallest_buffers:
            answer = networks.smallest_buffers(scenario, update)
        else:
            answer = networks.solve(
                scenario, update, multistart=multistart or 0, memory_limit=memory_limit,
                expect=announce("network"),
            )  # fmt: skip
    if as_json:
        print_json(answer.outcome.to_dict())
    else:
        report.print_network(answer.outcome)
        answered()
    writers = (
        answer.write_links, answer.write_paths, answer.write_sensitivities, answer.to_graphml
    )  # fmt: skip
    for (what, target), writer in zip(outputs.items(), writers, strict=True):
        if target is not None:
            write(what, target, writer)
    if figure is not None:
        draw = partial(report.figures.draw_network, answer.outcome, answer.drawing)
        write("picture", figure, draw)


def _failures(scenario: Scenario, as_json: bool) -> None:
    with progress("failures") as update:
        found = single_failures(scenario, update, announce("failures"))
    if as_json:
        first, *others = (each._asdict() for each in found)
        print_json({"schema": 1, "nothing_failed": first, "failures": others})
        return
    report.print_failures([each._asdict() for each in found])


def _check_alone(option: str, others: Mapping[str, object]) -> None:
    """Refuse options for the steady state beside one that gives no steady state."""
    for name, value in others.items():
        if value is not None:
            raise click.UsageError(f"{option} and --{name} exclude each other; leave one out")


def _check_transient(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(f"--{name} belongs to --transient; write that too")


def _before(path: str, connections: int | None, rate: str | None) -> Scenario:
    return networks.load(path, connections=connections, rate=rate)


def _transient(
    scenario: Scenario,
    duration: str,
    start: Scenario | None,
    step: str | None,
    series: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    try:
        with progress("network") as update:
            course = networks.transient(
                scenario, duration, start=start, step=step,
                progress=update, expect=announce("network"),
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        if (so_far := getattr(stop, "result", None)) is not None:
            _show(so_far, as_json)
        raise
    _show(course, as_json)
    if series is not None:
        write("series", series, partial(networks.write_series, course))
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, course))


def _show(course: Transient, as_json: bool) -> None:
    if as_json:
        print_json(course.to_dict(), indent=None)
        return
    report.print_transient(course)
    answered()


Design = tuple[str, "Scenario"]


def compare(first: Design, second: Design, growth: float | None, as_json: bool) -> None:
    """Solve both designs with each link down alone, and print them beside each other."""
    with progress("designs") as update:
        found = networks.compare_designs(
            first[1], second[1], growth=growth, progress=update, expect=announce("designs")
        )
    names = _names(first[0], second[0])
    document = {
        "schema": 1, "designs": [first[0], second[0]],
        "demands": [
            {"growth": each.growth, "demand_bps": each.demand_bps, "overloaded_failures":
             [each.overloaded(0)[0], each.overloaded(1)[0]],
             "states": [_row(row) for row in each.rows]}
            for each in found
        ],
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    report.print_designs(names, document["demands"])
    answered()


def _row(row: State) -> dict[str, Any]:
    states = [None if side.state is None else side.state._asdict() for side in row.sides]
    return {"link": row.link, "designs": states}


def _names(first: str, second: str) -> tuple[str, str]:
    """Return short names of two files: without their folders, if they then differ."""
    short = Path(first).stem, Path(second).stem
    return short if short[0] != short[1] else (first, second)
