"""``forebay size``: the smallest buffer that meets the scenario's goals."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

import forebay
from forebay.cli import options
from forebay.cli.output import announce, answered, print_json, progress, say, write
from forebay.cli.signals import word
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.platforms import Emission, Memory


@click.command("size")
@options.link
@options.flows_of_link
@options.engine
@options.seed
@options.seeds(5)
@click.option(
    "--max-seeds", type=options.WholeNumber(1, 100_000), default=None, metavar="K",
    help="Most replications of a buffer that is undecided.  [default: 4 x --seeds; more with "
    "--budget if the range is then wide]",
)  # fmt: skip
@options.jobs
@options.memory_limit
@options.budget
@click.option(
    "--store", metavar="FILE", default=None, type=click.Path(path_type=Path),
    help="Save every replication in this store; a sizing that was stopped resumes from it.",
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
    "--holds", type=options.Number(0, 1), default=0.95, show_default=True, metavar="SHARE",
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
    engine: str,
    seed: int,
    seeds: int,
    max_seeds: int | None,
    jobs: int,
    memory_limit: str | None,
    budget: str | None,
    store: Path | None,
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
        from forebay.cli.size_again import repeat

        return repeat(again, jobs, as_json)
    if max_seeds is not None and max_seeds < seeds:
        wrong = f"{max_seeds} is fewer than --seeds {seeds}; write more"
        raise click.BadParameter(wrong, param_hint="--max-seeds")
    if platform is not None:
        _check(platform)
    sizing = partial(
        forebay.size, seed=seed, seeds=seeds, max_seeds=max_seeds, jobs=jobs,
        memory_limit=memory_limit, budget=budget, store=store, link=link, link_class=link_class,
        sizes=sizes, of=of,
    )  # fmt: skip
    if memory is not None and not class_queues:
        raise click.BadParameter("belongs to --class-queues; write that", param_hint="--memory")
    if table is not None:
        from forebay.cli import size_ports

        size_ports.refuse_beside(
            {"class_queues": class_queues, "link": link, "link_class": link_class,
             "halves": halves, "chip_ports": chip_ports > 1, "uncertain": uncertain,
             "html": html, "figure": figure, "emit": platform, "force": force}
        )  # fmt: skip
        by, kept = partial(sizing, engine=engine), None if engine in ("theory", "atlas") else store
        return size_ports.size_table(table, overrides, by, partial(_kept_in, kept), as_json)
    scenario = options.load(path, overrides)
    if class_queues:
        from forebay.cli.size_class_queues import refuse_beside as refuse
        from forebay.cli.size_class_queues import size_together

        refuse(
            {"link": link, "link_class": link_class, "sizes": sizes, "halves": halves,
             "html": html, "figure": figure, "uncertain": uncertain, "force": force}
        )  # fmt: skip
        how = {
            "engine": engine, "seeds": seeds, "seed": seed, "max_seeds": max_seeds, "jobs": jobs,
            "memory_limit": memory_limit, "budget": budget, "store": store,
        }  # fmt: skip
        return size_together(scenario, how, memory, platform, as_json)
    if uncertain:
        from forebay.cli.size_uncertain import refuse_beside, size_draws

        refuse_beside(
            {"max_seeds": max_seeds, "link": link, "link_class": link_class, "sizes": sizes,
             "halves": halves, "html": html, "emit": platform}
        )  # fmt: skip
        how = {
            "engine": engine, "holds": holds, "draws": draws, "seeds": seeds, "seed": seed,
            "jobs": jobs, "memory_limit": memory_limit, "budget": budget, "store": store,
        }  # fmt: skip
        return size_draws(path or "", scenario, options.ranges(uncertain), how, figure, as_json)
    if platform is not None:
        from forebay.platforms import check_discipline

        check_discipline(scenario.queue.discipline, platform)
    options.check_outputs(path or "", scenario, figure=figure, html=html)
    try:
        with progress(f"sizing by {engine}") as update:
            result = sizing(scenario, engine, progress=update, expect=announce(engine))
    except KeyboardInterrupt as stop:
        if not _keep(stop, as_json):
            raise KeyboardInterrupt(*_kept_in(store)) from None
        raise
    if halves:
        with progress("smaller buffers") as update:
            result = forebay.with_cheaper(
                scenario, result, seeds=seeds, seed=seed, jobs=jobs, progress=update
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
        write("picture", figure, partial(_draw, result))
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
    from forebay.report import size_page

    write_text(size_page(result, scenario.to_toml()), path)


def _check(platform: str) -> None:
    """Refuse an unknown platform before the sizing."""
    from forebay.platforms import get

    get(platform)


def _emit(
    result: forebay.SizeResult, platform: str | None, path: str, force: bool
) -> tuple[Emission | None, Exception | None]:
    """Return the configuration, or the error; the answer is printed in both cases."""
    if platform is None or result.buffer is None:
        return None, None
    from forebay.platforms import PlatformError, emit, of_sizing

    try:
        return emit(*of_sizing(result, f"forebay size {path}", force=force), platform), None
    except PlatformError as error:
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
    from forebay.platforms import memory_for

    size = chosen.bytes
    if result.aqm is not None:  # all packets up to its limit must fit
        size = result.aqm.limit_packets * result.aqm.packet_bytes
    return memory_for(size, float(scenario.link.capacity), ports)


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


def _draw(result: forebay.SizeResult, path: Path) -> None:
    from forebay.report.figures import draw_size

    draw_size(result, path)


def _show(result: forebay.SizeResult, as_json: bool, *, explain: bool = False) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    from forebay.report import print_size

    print_size(result, explain=explain)
    answered()
