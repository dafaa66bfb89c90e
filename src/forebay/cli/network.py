"""``forebay network``: the steady state of a whole network, for all links and connections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forebay import report
from forebay.api import networks
from forebay.cli import options
from forebay.cli.output import announce, progress, show, write

if TYPE_CHECKING:
    from forebay import Scenario
    from forebay.api.networks import State, Transient

_STEADY = {
    "links", "paths", "sensitivities", "graphml", "multistart", "smallest_buffers", "memory_limit",
}  # fmt: skip
"""Options for a steady state."""
_TABLE = ".csv .parquet FILE.csv"


@options.as_command("network")
def command(
    source: options.Source = options.scenario_from("TOPOLOGY"),
    plain: dict[str, Any] = options.together(
        connections=options.number(
            "N", 1, 10_000_000, "For a network's file: number of greedy connections.  [default: "
            "1000, or none beside the file's own demand]"),
        rate=options.text(
            "", "For a network's file: capacity of links without one.  [default: 10 Gbit/s]")),
    growth: float | None = options.number(
        "FACTOR", 1e-3, 1e3, "A factor on the offered load, such as 1.5."),
    largest_part: bool = options.flag(
        "Leave out the routers that no link joins to the largest part of the network."),
    both_directions: bool = options.flag(
        "Let directed links of a file that stand once go both ways."),
    links: Path | None = options.file(
        _TABLE, "Write every link; .parquet works too, here and below."),
    paths: Path | None = options.file(
        _TABLE, "Write every path: its connections' throughput, and the link with the most loss."),
    sensitivities: Path | None = options.file(
        _TABLE, "Write the change of throughputs in per cent for 1 % more buffer at a link."),
    graphml: Path | None = options.file(
        ".graphml FILE.graphml", "Write routers and links with their metrics."),
    multistart: int | None = options.number(
        "--multistart --starts N", 1, 1000, "Solve again from N random states and count the fixed "
        "points."),
    failures: bool = options.flag(
        "Take each link down alone, and print the worst link and who loses most, in one table."),
    against: str | None = options.text(
        "TOPOLOGY", "Compare with this design: as they are and with each link down, in one table; "
        "--growth adds a table."),
    smallest_buffers: bool = options.flag(
        "Find the smallest buffer of each class of links that meets the goals, and use it."),
    duration: str | None = options.text(
        "--transient TIME",
        'Step the equations of hisamatsu-2007 through this time, e.g. "2 s".'),
    start: str | None = options.text(
        "--from SCENARIO", "With --transient: begin at the steady state of this scenario, as its "
        "file has it; not set: windows of one packet and empty queues."),
    step: str | None = options.text(
        "TIME", "With --transient: the time slot; not set: short enough for the fastest link."),
    series: Path | None = options.file(_TABLE, "With --transient: write every series over time."),
    memory_limit: str | None = options.memory_limit,
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """A whole network: every link, and every class of connections.

    TOPOLOGY is a scenario with a [topology], such as scenarios/abilene-fast-edge-small.toml, or a
    GraphML, GML, SNDlib XML or REPETITA file, whose demand is then offered load.
    """
    options.check_owners(start="duration", step="duration", series="duration")
    path, overrides = source.path or "", source.overrides
    if growth is not None and against is None:
        overrides = (*overrides, f"topology.demand_growth={growth}")
    if largest_part:
        overrides = (*overrides, "topology.largest_part=true")
    if both_directions:
        overrides = (*overrides, "topology.both_directions=true")
    scenario = networks.load(path, overrides, **plain)
    outputs = {"links": links, "paths": paths, "sensitivities": sensitivities, "graphml": graphml}
    source.check_outputs(scenario, **outputs, series=series, figure=figure)
    if against is not None:
        _check_alone("--against", _STEADY | {"figure", "duration"})
        other = networks.load(against, overrides, **plain)
        _compare((path, against), (scenario, other), growth, as_json)
    elif duration is not None:
        _check_alone("--transient", _STEADY | {"failures"})
        before = None if start is None else networks.load(start, **plain)
        course = _step(scenario, duration, before, step, as_json)
        write("series", series, lambda path: networks.write_series(course, path))
        write("picture", figure, lambda path: report.draw_answer(course, path))
    elif failures:
        _check_alone("--failures", _STEADY | {"figure"})
        with progress("failures") as update:
            outages = networks.single_failures(scenario, update, announce("failures"))
        rows = [outage._asdict() for outage in outages]
        document = {"schema": 1, "nothing_failed": rows[0], "failures": rows[1:]}
        show(document, as_json, lambda _: report.print_failures(rows))
    else:
        if smallest_buffers:
            _check_alone("--smallest-buffers", {"multistart", "memory_limit"})
        with progress("network") as update:
            if smallest_buffers:
                answer = networks.smallest_buffers(scenario, update)
            else:
                answer = networks.solve(
                    scenario, update, multistart=multistart or 0, memory_limit=memory_limit,
                    expect=announce("network"),
                )  # fmt: skip
        show(answer.outcome, as_json, report.print_network)
        write("links", links, answer.write_links)
        write("paths", paths, answer.write_paths)
        write("sensitivities", sensitivities, answer.write_sensitivities)
        write("graphml", graphml, answer.to_graphml)
        write("picture", figure, lambda path: report.figures.draw_network(
            answer.outcome, answer.drawing, path))  # fmt: skip


def _check_alone(option: str, others: set[str]) -> None:
    """Refuse options for the steady state beside one that gives no steady state."""
    if other := options.first_written(others):
        raise click.UsageError(f"{option} and {other} exclude each other; leave one out")


def _step(
    scenario: Scenario, duration: str, start: Scenario | None, step: str | None, as_json: bool
) -> Transient:
    """Print a network's way through time, up to where it was stopped."""

    def shown(course: Transient) -> None:
        show(course, as_json, report.print_transient, indent=None)

    try:
        with progress("network") as update:
            course = networks.transient(
                scenario, duration, start=start, step=step,
                progress=update, expect=announce("network"),
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        if (so_far := getattr(stop, "result", None)) is not None:
            shown(so_far)
        raise
    shown(course)
    return course


def _compare(
    paths: tuple[str, str], designs: tuple[Scenario, Scenario], growth: float | None, as_json: bool
) -> None:
    """Solve both designs with each link down alone, and print them beside each other."""
    with progress("designs") as update:
        comparison = networks.compare_designs(
            *designs, growth=growth, progress=update, expect=announce("designs")
        )
    demands = [
        {"growth": demand.growth, "demand_bps": demand.demand_bps,
         "overloaded_failures": [demand.overloaded(0), demand.overloaded(1)],
         "states": [_row(row) for row in demand.rows]}
        for demand in comparison
    ]  # fmt: skip
    document = {"schema": 1, "designs": list(paths), "demands": demands}
    short = Path(paths[0]).stem, Path(paths[1]).stem  # unless they are then the same
    names = short if short[0] != short[1] else paths
    show(document, as_json, lambda _: report.print_designs(names, demands))


def _row(row: State) -> dict[str, Any]:
    states = [None if side is None else side._asdict() for side in row.sides]
    return {"link": row.link, "designs": states}
