"""``forebay size``: the smallest buffer that meets the scenario's goals."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import platforms, report
from forebay.cli import options
from forebay.cli.output import announce, naming_signal, progress, say, show, to_be_continued, write
from forebay.cli.size_several import size_table, size_together
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.platforms import Emission, Memory

_SCENARIO = {"path", "overrides", "rate", "rtt", "mix", "goal", "save", "flows", "as_json"}
_EFFORT = {"engine", "seed", "seeds", "jobs", "memory_limit", "budget", "store"}
_READ = {
    "--again": {"again", "jobs", "as_json"},
    "--ports": {"table", "overrides", "max_seeds", "sizes", "of", "as_json", *_EFFORT},
    "--class-queues": {"class_queues", "max_seeds", "memory", "platform", *_SCENARIO, *_EFFORT},
    "--uncertain": {"uncertain", "holds", "draws", "figure", *_SCENARIO, *_EFFORT},
}
"""What a question other than that for one size is read with."""


@options.as_command("size")
def command(
    source: options.Source = options.scenario_or_link(flows=options.flows),
    effort: dict[str, Any] = options.effort(
        "engine seed seeds max_seeds jobs memory_limit budget store", seeds=options.seeds(5),
        max_seeds=options.number(
            "K", 1, 100_000, "Most replications of a buffer that is undecided.  [default: 4 x "
            "--seeds; more with --budget if the range is then wide]"),
        store=options.store(
            "Save every replication in this store; a sizing that was stopped resumes from it.")),
    link: str | None = options.text(
        "NAME", "Of a [topology]: size this link, such as 'Denver->Seattle'."),
    link_class: str | None = options.text(
        "CLASS", "Of a [topology]: size all links of a class at once, such as core."),
    sizes: str | None = options.text(
        "LIST", 'The only sizes that can be configured, e.g. "64,128,256 packets".'),
    halves: bool = options.flag(
        "Run 1/2, 1/4 and 1/8 of the answer too: what a smaller buffer costs."),
    chip_ports: int = options.number(
        "N", 1, 4096, "Ports of a chip that have this buffer each, for the memory.  [default: 1]",
        default=1, show_default=False),
    table: str | None = options.text(
        "--ports PORTS.csv",
        "Size every port of a table instead: name, rate, n or load, rtt, platform."),
    again: str | None = options.text(
        "ANSWER.json", "Run every buffer of a saved answer once more, and compare all digits."),
    class_queues: bool = options.flag(
        "Find a size for each of [[queue.classes]] without one, so that all goals are met."),
    memory: str | None = options.text(
        "SIZE", 'With --class-queues: what they share, e.g. "2 MB".'),
    uncertain: tuple[str, ...] = options.uncertain,
    holds: float = options.share(
        "With --uncertain: share of the draws in which the size must meet the goals.",
        default=0.95),
    draws: int = options.number("N", 8, 65_536, "With --uncertain: number of draws.", default=128),
    of: str = options.text(
        "FIELD",
        "Size this instead of the queue: link.policer.burst, link.shaper.burst, queue.alpha.",
        default="", show_default=False),
    explain: bool = options.flag("Print all evidence too."),
    html: Path | None = options.file(
        ".html OUT.html", "Write the answer with its evidence into one .html page."),
    figure: Path | None = options.figure,
    platform: str | None = options.text(
        "--emit PLATFORM", "Print the answer as configuration too; forebay platforms list names "
        "the platforms."),
    force: bool = options.flag(
        "With --emit: write a size that is not recommended, with the reason as a comment."),
    as_json: bool = options.as_json,
) -> int:  # fmt: skip
    """The smallest buffer that meets the scenario's goals, with the evidence.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml; its [goals] are the targets. Without one
    the link is in options: --rate "10 Gbit/s" --flows 1000 --rtt "20 ms..120 ms".
    """
    _one_question(source.path, table, again)
    if again is not None:
        _refuse_beside("--again")
        return _repeat(again, effort["jobs"], as_json)
    if platform is not None:
        platforms.get(platform)  # an unknown one is refused before the sizing
    sizing: Callable[..., forebay.SizeResult] = partial(
        forebay.size, link=link, link_class=link_class, sizes=sizes, of=of, **effort
    )
    if table is not None:
        _refuse_beside("--ports")
        kept = None if effort["engine"] in ("theory", "atlas") else effort["store"]
        return size_table(table, source.overrides, sizing, partial(_stopped, kept), as_json)
    if class_queues:
        _refuse_beside("--class-queues")
        return size_together(source.load(), effort, memory, platform, as_json)
    scenario = source.load()
    source.check_outputs(scenario, figure=figure, html=html, store=effort["store"])
    if uncertain:
        _refuse_beside("--uncertain")
        how = {"holds": holds, "draws": draws, **effort}
        del how["max_seeds"]
        return _size_draws(scenario, options.ranges(uncertain), how, figure, as_json)
    options.check_owners(
        memory="class_queues", holds="uncertain", draws="uncertain", force="platform"
    )
    if platform is not None:
        if of:
            wrong = f"writes the size of a queue, not {of}; leave it out"
            raise click.BadParameter(wrong, param_hint="--emit")
        platforms.check_discipline(scenario.queue.discipline, platform)
    try:
        with progress(f"sizing by {effort['engine']}") as update:
            result = sizing(scenario, progress=update, expect=announce(effort["engine"]))
    except KeyboardInterrupt as stop:
        found: forebay.SizeResult | None = getattr(stop, "result", None)
        if found is None or not found.curve:
            raise _stopped(effort["store"]) from None
        show(found, as_json, report.print_size)
        raise
    if halves:
        with progress("smaller buffers") as update:
            same = {name: effort[name] for name in ("seeds", "seed", "jobs")}
            result = forebay.with_cheaper(scenario, result, progress=update, **same)
    emission, refused = _emit(result, platform, source.path, force)
    configuration = None if emission is None else emission.to_dict()
    more = {"memory": _memory(result, scenario, chip_ports), "configuration": configuration}
    result = result.model_copy(update=more)
    show(result, as_json, lambda answer: report.print_size(answer, explain=explain))
    if platform is not None and result.buffer is None:
        say(f"no configuration for {platform}: the sizing found no buffer")
    write("picture", figure, lambda path: report.draw_answer(result, path))
    write("page", html, lambda path: write_text(report.size_page(result), path))
    if refused is not None:
        raise refused
    return result.exit_status


def _one_question(path: str | None, table: str | None, again: str | None) -> None:
    """Refuse more than one of a scenario, a table of ports and a saved answer."""
    given = [name for name in (path, table, again) if name is not None]
    if len(given) > 1:
        wrong = f"{given[0]!r} and {given[1]!r} exclude each other"
        raise click.UsageError(f"{wrong}; write one of SCENARIO, --ports and --again")


def _refuse_beside(question: str) -> None:
    every = click.get_current_context().params
    if flag := options.first_written(every.keys() - _READ[question]):
        wrong = f"is not read with {question}; leave it out"
        raise click.BadParameter(wrong, param_hint=flag)


def _repeat(path: str, jobs: int, as_json: bool) -> int:
    """Run every buffer of a saved answer once more; return 1 if a digit differs."""
    answer = forebay.SizeResult.load(path)
    with progress("again") as update:
        repeat = forebay.again(answer, jobs=jobs, told=update)
    document = {
        "schema": 1, "buffers": list(repeat.packets), "different": list(repeat.different),
        "answer": answer.to_dict(),
    }  # fmt: skip
    same = len(repeat.packets) - len(repeat.different)
    lines = [f"{same} of {len(repeat.packets)} buffers gave the same digits"]
    if repeat.different:
        lines.append(f"different: {', '.join(map(str, repeat.different))} packets")
    show(document, as_json, lambda _: click.echo("\n".join(lines)))
    return 1 if repeat.different else 0


def _size_draws(
    scenario: forebay.Scenario,
    ranges: dict[str, Any],
    how: dict[str, Any],
    figure: Path | None,
    as_json: bool,
) -> int:
    """Print the size that holds in most of what the inputs may be; ``how`` is for the verb."""
    with progress("sizing in draws") as update, naming_signal():
        answer = forebay.size_uncertain(scenario, ranges, announce=say, progress=update, **how)
    show(answer, as_json, click.echo)
    write("picture", figure, lambda path: report.draw_answer(answer, path))
    return answer.exit_status


def _emit(
    result: forebay.SizeResult, platform: str | None, path: str | None, force: bool
) -> tuple[Emission | None, Exception | None]:
    """Return the configuration, or the error; the answer is printed in both cases."""
    if platform is None or result.buffer is None:
        return None, None
    try:
        made = f"forebay size {shlex.quote(path)}" if path else f"a sizing of {result.scenario}"
        target = platforms.of_sizing(result, made, force=force)
        return platforms.emit(*target, platform), None
    except platforms.PlatformError as error:
        return None, error


def _memory(result: forebay.SizeResult, scenario: forebay.Scenario, ports: int) -> Memory | None:
    """Return the memory that the answer needs; only platforms can compute it."""
    chosen = result.buffer if result.recommended is None else result.recommended
    if chosen is None or result.of:
        return None
    size = chosen.bytes
    if result.aqm is not None:  # all packets up to its limit must fit
        size = result.aqm.limit_packets * result.aqm.packet_bytes
    return platforms.memory_for(size, float(scenario.link.capacity), ports)


def _stopped(store: Path | None) -> KeyboardInterrupt:
    """Return the interrupt of a sizing, with what its store has."""
    if store is not None:
        with forebay.Store(store) as opened:
            if opened.count > 0:
                return to_be_continued(f"finished simulations are kept in {store}")
    return KeyboardInterrupt()
