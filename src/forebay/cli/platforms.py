"""``forebay platforms``: a size as configuration of a router platform; lint an existing one."""

from typing import Any

import click

from forebay import platforms
from forebay.cli import options
from forebay.cli.output import print_json, show


@click.group("platforms")
def command() -> None:
    """Write a size as configuration of a router platform; lint an existing one."""


_PORT = options.together(
    rate=options.text("RATE", 'The port\'s rate, such as "10 Gbit/s".'),
    packet=options.text("SIZE", "A full packet.  [default: 1500 B]"),
    model=options.text("NAME", "Hardware, if needed; see list."),
    header=options.text(
        "SIZE", "Link-layer header that Linux counts in each packet.  [default: 14 B]"
    ),
    pool=options.text("SIZE", "Memory that the chip's queues share."),
)


@options.as_command("emit", command)
def emit(
    target: str | None = options.argument("[SCENARIO|SIZE]"),
    platform: str = options.text("NAME", "Platform; see list.", required=True),
    answer: str | None = options.text(
        "FILE", "A file of forebay size --json, with the buffer found."),
    place: dict[str, Any] = _PORT,
    overrides: tuple[str, ...] = options.overrides,
    force: bool = options.flag(
        "Write a size of --answer that is not recommended, with the reason as a comment."),
    form: str | None = options.text("NAME", "How to write the size; see list."),
    interface: str | None = options.text("NAME", "The port's name in the configuration."),
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """Write a buffer's size as configuration.

    For the result of a sizing give --answer and the document of forebay size --json. SCENARIO is
    a scenario file that sets queue.size, which is used as it is. SIZE is a size such as
    "129 packets", "1.5 MB" or "10 ms", with --rate.
    """
    platforms.get(platform)  # an unknown platform is the first error
    options.check_owners(force="answer")
    rate, packet = place["rate"], place["packet"]
    if answer is not None:
        if target is not None or overrides or rate is not None or packet is not None:
            raise platforms.PlatformError("two-sizes")
        wanted, port = platforms.read_sizing(answer, force=force)
    elif target is None:
        raise platforms.PlatformError("no-size")
    else:
        wanted, port = platforms.read_target(target, rate=rate, packet=packet, overrides=overrides)
    port = platforms.with_choices(port, header=place["header"], pool=place["pool"])
    emission = platforms.emit(
        wanted, port, platform, form=form, model=place["model"], interface=interface
    )
    memory, points = platforms.memory_for(wanted.bytes, port.rate_bps), platforms.REFERENCE_POINTS
    if as_json:
        print_json(emission.to_dict() | {
            "memory": memory.model_dump(exclude={"text"}),
            "reference_points": [
                {"says": p.says, "date": p.date, "source": p.source} for p in points
            ],
        })  # fmt: skip
        return
    if emission.comment_mark is None:  # JSON has no comments
        click.echo("\n".join(emission.comments), err=True)
    click.echo(emission.text, nl=False)
    click.echo(f"memory: {memory.text}", err=True)
    for point in points[:2]:
        click.echo(f"for comparison: {point.says} ({point.date}, {point.source})", err=True)


@options.as_command("lint", command)
def lint(
    path: str = options.argument("FILE"),
    platform: str | None = options.text("NAME", "Platform; recognised if not given."),
    scenario: str | None = options.text(
        "FILE", "The wanted size: a scenario, or a sizing's .json."),
    place: dict[str, Any] = _PORT,
    overrides: tuple[str, ...] = options.overrides,
    as_json: bool = options.as_json,
) -> int:  # fmt: skip
    """Print a configuration's buffers in bytes, milliseconds and packets, and its mistakes.

    With --scenario, which also gives the rate, compare it with the scenario's size: exit status 1
    if no queue has that size.
    """
    options.check_owners(overrides="scenario")
    wanted, rate, packet = None, place["rate"], place["packet"]
    if scenario is not None:
        wanted, port = platforms.read_target(
            scenario, rate=rate, packet=packet, overrides=overrides
        )
    else:
        port = platforms.parse_port(rate, packet)
    port = platforms.with_choices(port, header=place["header"], pool=place["pool"])
    text = platforms.read_snippet(path)
    seen = platforms.lint(text, port, platform=platform, model=place["model"], wanted=wanted)
    show(seen, as_json, lambda _: click.echo(seen.text, nl=False))
    return seen.exit_status


@options.as_command("list", command)
def list_command(as_json: bool = options.as_json) -> None:
    """List the platforms, how each can write a size, and which are refused."""
    known = [platforms.get(name) for name in platforms.names()]
    fields = ("name", "title", "forms", "models", "source")
    rows = [{field: getattr(each, field) for field in fields} for each in known]
    document = {"schema": 1, "platforms": rows, "refused": platforms.REFUSED}

    def lines(_: object) -> None:
        for each in known:
            click.echo(f"{each.name:11} {each.title}")
            click.echo(f"{'':11} --form {'|'.join(each.forms)}  --model {'|'.join(each.models)}")
        for name, reason in platforms.REFUSED.items():
            click.echo(f"{name:11} refused: {reason}")

    show(document, as_json, lines)
