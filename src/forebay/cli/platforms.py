"""``forebay platforms``: a size as configuration of a router platform; lint an existing one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from forebay.cli import options
from forebay.cli.output import print_json
from forebay.platforms import (
    REFERENCE_POINTS,
    REFUSED,
    PlatformError,
    emit,
    get,
    lint,
    memory_for,
    names,
    parse_port,
    read_sizing,
    read_snippet,
    read_target,
    with_choices,
)

F = TypeVar("F", bound=Callable[..., Any])


@click.group("platforms")
def command() -> None:
    """Write a size as configuration of a router platform; lint an existing one."""


def _port_options(function: F) -> F:
    for option in (
        click.option("--pool", metavar="SIZE", help="Memory that the chip's queues share."),
        click.option(
            "--header", metavar="SIZE",
            help="Link-layer header that Linux counts in each packet.  [default: 14 B]",
        ),
        click.option("--model", metavar="NAME", help="Hardware, if needed; see list."),
        click.option("--packet", metavar="SIZE", help="A full packet.  [default: 1500 B]"),
        click.option("--rate", metavar="RATE", help='The port\'s rate, such as "10 Gbit/s".'),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command("emit")
@click.argument("target", metavar="SCENARIO|SIZE", required=False)
@click.option("--platform", required=True, metavar="NAME", help="Platform; see list.")
@click.option(
    "--answer", metavar="FILE", help="A file of forebay size --json, with the buffer found."
)
@_port_options
@options.overrides
@click.option(
    "--force", is_flag=True,
    help="Write a size of --answer that is not recommended, with the reason as a comment.",
)  # fmt: skip
@click.option("--form", metavar="NAME", help="How to write the size; see list.")
@click.option("--interface", metavar="NAME", help="The port's name in the configuration.")
@options.as_json
def emit_command(
    target: str | None,
    platform: str,
    answer: str | None,
    rate: str | None,
    packet: str | None,
    model: str | None,
    header: str | None,
    pool: str | None,
    overrides: tuple[str, ...],
    force: bool,
    form: str | None,
    interface: str | None,
    as_json: bool,
) -> None:
    """Write a buffer's size as configuration.

    For the result of a sizing give --answer and the document of forebay size --json. SCENARIO is
    a scenario file that sets queue.size, which is used as it is. SIZE is a size such as
    "129 packets", "1.5 MB" or "10 ms", with --rate.
    """
    get(platform)  # an unknown platform is the first error
    if answer is not None:
        if target is not None or overrides or rate is not None or packet is not None:
            wrong = "--answer already gives the buffer, its rate and its packet"
            raise PlatformError("two-sizes", wrong, "leave out the other options about the size")
        wanted, port = read_sizing(answer, force=force)
    elif target is None:
        wrong = "nothing to emit"
        raise PlatformError("no-size", wrong, "write --answer FILE, a scenario or a size")
    else:
        wanted, port = read_target(target, rate=rate, packet=packet, overrides=overrides)
    port = with_choices(port, header=header, pool=pool)
    made = emit(wanted, port, platform, form=form, model=model, interface=interface)
    memory = memory_for(wanted.bytes, port.rate_bps)
    if as_json:
        points = [{"says": p.says, "date": p.date, "source": p.source} for p in REFERENCE_POINTS]
        print_json(
            made.to_dict()
            | {"memory": memory.model_dump(exclude={"text"}), "reference_points": points}
        )
        return
    if made.comment_mark is None:  # JSON has no comments
        for line in made.comments:
            click.echo(line, err=True)
    click.echo(made.text, nl=False)
    click.echo(f"memory: {memory.text}", err=True)
    for point in REFERENCE_POINTS[:2]:
        click.echo(f"for comparison: {point.says} ({point.date}, {point.source})", err=True)


@command.command("lint")
@click.argument("path", metavar="FILE")
@click.option("--platform", metavar="NAME", help="Platform; recognised if not given.")
@click.option(
    "--scenario", metavar="FILE", help="The wanted size: a scenario, or a sizing's .json."
)
@_port_options
@options.overrides
@options.as_json
def lint_command(
    path: str,
    platform: str | None,
    scenario: str | None,
    rate: str | None,
    packet: str | None,
    model: str | None,
    header: str | None,
    pool: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> int:
    """Print a configuration's buffers in bytes, milliseconds and packets, and its mistakes.

    With --scenario, which also gives the rate, compare it with the scenario's size: exit status 1
    if no queue has that size.
    """
    wanted = None
    if scenario is not None:
        wanted, port = read_target(scenario, rate=rate, packet=packet, overrides=overrides)
    else:
        port = parse_port(rate, packet)
    port = with_choices(port, header=header, pool=pool)
    seen = lint(read_snippet(path), port, platform=platform, model=model, wanted=wanted)
    if as_json:
        print_json(seen.to_dict())
    else:
        click.echo(seen.text, nl=False)
    return seen.exit_status


@command.command("list")
@options.as_json
def list_command(as_json: bool) -> None:
    """List the platforms, how each can write a size, and which are refused."""
    known = [get(name) for name in names()]
    if as_json:
        fields = ("name", "title", "forms", "models", "source")
        rows = [{field: getattr(each, field) for field in fields} for each in known]
        print_json({"schema": 1, "platforms": rows, "refused": REFUSED})
        return
    for each in known:
        click.echo(f"{each.name:11} {each.title}")
        click.echo(f"{'':11} --form {'|'.join(each.forms)}  --model {'|'.join(each.models)}")
    for name, reason in REFUSED.items():
        click.echo(f"{name:11} refused: {reason}")
