"""``forebay size``: the smallest buffer that meets the scenario's goals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import platforms, report
from forebay.cli import options
from forebay.cli.output import announce, answered, print_json, progress, say, write
from forebay.cli.signals import word
from forebay.cli.size_again import repeat
from forebay.cli.size_class_queues import size_together
from forebay.cli.size_ports import size_table
from forebay.cli.size_uncertain import size_draws
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.platforms import Emission, Memory


@click.command("size")
@options.link
@options.flows_of_link
@options.effort(
    "engine", "seed", "jobs", "memory_limit", "budget", seeds=options.seeds(5),
    max_seeds=click.option(
        "--max-seeds", type=options.WholeNumber(1, 100_000), default=None, metavar="K",
        help="Most replications of a buffer that is undecided.  [default: 4 x --seeds; more with "
        "--budget if the range is then wide]",
    ),
    store=click.option(
        "--store", metavar="FILE", default=None, type=click.Path(path_type=Path),
        help="Save every replication in this store; a sizing that was stopped resumes from it.",
    ),
)  # fmt: skip
@click.option(
    "--link", metavar="NAME", default=None,
    help="Of a [topology]: size this link, such as 'Denver->Seattle'.",
)  # fmt: skip
@click.option(
    "--link-class", metavar="CLASS", default=None,
    help="Of a [topology]: size all links of a class at once, such as core.",
)  # fmt: skip
@click.option(
    "--sizes", metavar="LIST", default=None,
    help='The only sizes that can be configured, e.g. "64,128,256 packets".',
)  # fmt: skip
@click.option(
    "--halves", is_flag=True,
    help="Run 1/2, 1/4 and 1/8 of the answer too: what a smaller buffer costs.",
)  # fmt: skip
@click.option(
    "--chip-ports", type=options.WholeNumber(1, 4096), default=1, metavar="N",
    help="Ports of a chip that have this buffer each, for the memory.  [default: 1]",
)  # fmt: skip
@click.option(
    "--ports", "table", metavar="PORTS.csv", default=None,
    help="Size every port of a table instead: name, rate, n or load, rtt, platform.",
)  # fmt: skip
@click.option(
    "--again", metavar="ANSWER.json", default=None,
    help="Run every buffer of a saved answer once more, and compare all digits.",
)  # fmt: skip
@click.option(
    "--class-queues", is_flag=True,
    help="Find a size for each of [[queue.classes]] without one, so that all goals are met.",
)  # fmt: skip
@click.option(
    "--memory", metavar="SIZE", default=None,
    help='With --class-queues: what they share, e.g. "2 MB".',
)  # fmt: skip
@options.uncertain
@click.option(
    "--holds", type=options.Number(0, 1, min_open=True, max_open=True), default=0.95,
    show_default=True, metavar="SHARE",
    help="With --uncertain: share of the draws in which the size must meet the goals.",
)  # fmt: skip
@click.option(
    "--draws", type=options.WholeNumber(8, 65_536), default=128, show_default=True, metavar="N",
    help="With --uncertain: number of draws.",
)  # fmt: skip
@click.option(
    "--of", "of", metavar="FIELD", default="",
    help="Size this instead of the queue: link.policer.burst, link.shaper.burst, queue.alpha.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Print all evidence too.")
@click.option(
    "--html", type=options.OutputPath(".html"), metavar="OUT.html",
    help="Write the answer with its evidence into one .html page.",
)  # fmt: skip
@options.figure
@click.option(
    "--emit", "platform", metavar="PLATFORM", default=None,
    help="Print the answer as configuration too; forebay platforms list names the platforms.",
)  # fmt: skip
@click.option(
    "--force", is_flag=True,
    help="With --emit: write a size that is not recommended, with the reason as a comment.",
)  # fmt: skip
@options.as_json
def command(
    path: str | None,
    overrides: tuple[str, ...],
    effort: dict[str, Any],
    link: str | None,
    link_class: str | None,
    sizes: str | None,
    of: str,
    explain: bool,
    halves: bool,
    chip_ports: int,
    table: str | None,
    again: str | None,
    class_queues: bool,
    memory: str | None,
    uncertain: tuple[str, ...],
    holds: float,
    draws: int,
    html: Path | None,
    figure: Path | None,
    platform: str | None,
    force: bool,
    as_json: bool,
) -> int:
    """The smallest buffer that meets the scenario's goals, with the evidence.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml; its [goals] are the targets. Without one
    the link is in options: --rate "10 Gbit/s" --flows 1000 --rtt "20 ms..120 ms".
    """
    _one_question(path, table, again)
    if again is not None:
        return repeat(again, effort["jobs"], as_json)
    most, seeds = effort["max_seeds"], effort["seeds"]
    if most is not None and most < seeds:
        wrong = f"{most} is fewer than --seeds {seeds}; write more"
        raise click.BadParameter(wrong, param_hint="--max-seeds")
    if platform is not None:
        platforms.get(platform)  # an unknown one is refused before the sizing
    sizing: Callable[..., forebay.SizeResult] = partial(
        forebay.size, link=link, link_class=link_class, sizes=sizes, of=of, **effort
    )
    if memory is not None and not class_queues:
        raise click.BadParameter("belongs to --class-queues; write that", param_hint="--memory")
    if table is not None:
        options.refuse_beside(
            {"class_queues": class_queues, "link": link, "link_class": link_class,
             "halves": halves, "chip_ports": chip_ports > 1, "uncertain": uncertain,
             "html": html, "figure": figure, "emit": platform, "force": force},
            "one scenario, not for a table of ports",
        )  # fmt: skip
        kept = None if effort["engine"] in ("theory", "atlas") else effort["store"]
        return size_table(table, overrides, sizing, partial(_kept_in, kept), as_json)
    scenario = options.load(path, overrides)
    if class_queues:
        options.refuse_beside(
            {"link": link, "link_class": link_class, "sizes": sizes, "halves": halves,
             "html": html, "figure": figure, "uncertain": uncertain, "force": force},
            "one size, not for --class-queues",
        )  # fmt: skip
        return size_together(scenario, effort, memory, platform, as_json)
    if uncertain:
        options.refuse_beside(
            {"max_seeds": most, "link": link, "link_class": link_class,
             "sizes": sizes, "halves": halves, "html": html, "emit": platform},
            "one scenario, not for draws of --uncertain",
        )  # fmt: skip
        how = {"holds": holds, "draws": draws, **effort}
        del how["max_seeds"]
        return size_draws(path or "", scenario, options.ranges(uncertain), how, figure, as_json)
    if platform is not None:
        platforms.check_discipline(scenario.queue.discipline, platform)
    options.check_outputs(path or "", scenario, figure=figure, html=html)
    try:
        with progress(f"sizing by {effort['engine']}") as update:
            result = sizing(scenario, progress=update, expect=announce(effort["engine"]))
    except KeyboardInterrupt as stop:
        if not _keep(stop, as_json):
            raise KeyboardInterrupt(*_kept_in(effort["store"])) from None
        raise
    if halves:
        with progress("smaller buffers") as update:
            result = forebay.with_cheaper(
                scenario,
                result,
                seeds=seeds,
                seed=effort["seed"],
                jobs=effort["jobs"],
                progress=update,
            )
    made, refused = _emit(result, platform, path or scenario.name, force)
    configuration = None if made is None else made.to_dict()
    found = {"memory": _memory(result, scenario, chip_ports), "configuration": configuration}
    result = result.model_copy(update=found)
    _show(result, as_json, explain=explain or halves or chip_ports > 1)
    if made is not None and not as_json:
        _print_configuration(made)
    if platform is not None and result.buffer is None:
        say(f"no configuration for {platform}: the sizing found no buffer")
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, result))
    if html is not None:
        write("page", html, partial(_page, result, scenario))
    if refused is not None:
        raise refused
    return result.exit_status


def _one_question(path: str | None, table: str | None, again: str | None) -> None:
    """Refuse more than one of a scenario, a table of ports and a saved answer."""
    given = [name for name in (path, table, again) if name is not None]
    if len(given) > 1:
        wrong = f"{given[0]!r} and {given[1]!r} exclude each other"
        raise click.UsageError(f"{wrong}; write one of SCENARIO, --ports and --again")


def _page(result: forebay.SizeResult, scenario: forebay.Scenario, path: Path) -> None:
    write_text(report.size_page(result, scenario.to_toml()), path)


def _emit(
    result: forebay.SizeResult, platform: str | None, path: str, force: bool
) -> tuple[Emission | None, Exception | None]:
    """Return the configuration, or the error; the answer is printed in both cases."""
    if platform is None or result.buffer is None:
        return None, None
    try:
        target = platforms.of_sizing(result, f"forebay size {path}", force=force)
        return platforms.emit(*target, platform), None
    except platforms.PlatformError as error:
        return None, error


def _print_configuration(made: Emission) -> None:
    title = f"Configuration for {made.platform}"
    click.echo(f"\n{title}")
    if made.comment_mark is None:  # JSON has no comments
        click.echo("\n".join(made.comments))
    click.echo(made.text, nl=False)


def _memory(result: forebay.SizeResult, scenario: forebay.Scenario, ports: int) -> Memory | None:
    """Return the memory that the answer needs; only platforms can compute it."""
    chosen = result.buffer if result.recommended is None else result.recommended
    if chosen is None:
        return None
    size = chosen.bytes
    if result.aqm is not None:  # all packets up to its limit must fit
        size = result.aqm.limit_packets * result.aqm.packet_bytes
    return platforms.memory_for(size, float(scenario.link.capacity), ports)


def _keep(stop: KeyboardInterrupt, as_json: bool) -> bool:
    """Show the partial result of an interrupted sizing; return whether there is one."""
    found: forebay.SizeResult | None = getattr(stop, "result", None)
    if found is None or not found.curve:
        return False
    _show(found, as_json)
    return True


def _kept_in(store: Path | None) -> list[str]:
    """Return the line on a stopped sizing that has a store; nothing if the store is empty."""
    if store is None:
        return []
    with forebay.Store(store) as opened:
        if opened.count == 0:
            return []
    kept = f"{word()}; finished simulations are kept in {store}"
    return [f"{kept}, and the same command continues from there"]


def _show(result: forebay.SizeResult, as_json: bool, *, explain: bool = False) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    report.print_size(result, explain=explain)
    answered()
