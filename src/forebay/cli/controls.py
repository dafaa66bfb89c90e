"""``forebay controls``: congestion controls from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from forebay.cli import options
from forebay.cli.output import print_json

if TYPE_CHECKING:
    from forebay.api.controls import Installed


@click.group("controls")
def command() -> None:
    """Build, list, check and compare congestion controls of your own, and the kernel's."""


@command.command("build")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@click.option("--name", metavar="NAME", help="Its name in scenarios.  [default: its own]")
@click.option(
    "--linux", metavar="VERSION", help="FILE is a module of this Linux's net/ipv4, such as 6.12."
)
@click.option("--hz", type=int, metavar="N", help="Ticks of that kernel's clock.  [default: 1000]")
@options.as_json
def build(
    sources: tuple[str, ...], name: str | None, linux: str | None, hz: int | None, as_json: bool
) -> None:
    """Compile a control in C, C++, Rust or Zig, so that scenarios can name it.

    Further FILEs are compiled with the first, as tcp_yeah.c needs tcp_vegas.c.
    """
    from forebay.api import controls

    made = controls.build(*sources, name=name, linux=linux, hz=hz)
    if as_json:
        print_json({"schema": 1, "control": _document(made)})
    else:
        click.echo(f'{made.name}: write congestion_control = "{made.name}" in a scenario')


@command.command("list")
@options.as_json
def list_command(as_json: bool) -> None:
    """List the controls that were built here, and those of installed distributions."""
    from forebay.api import controls

    found = controls.listed()
    if as_json:
        print_json({"schema": 1, "controls": [_document(each) for each in found]})
        return
    for each in found:
        click.echo(f"{each.name:20} {each.brought_by or each.source}")
    if not found:
        click.echo("none; build one with: forebay controls build FILE.c")


def _document(made: Installed) -> dict[str, Any]:
    return {
        "name": made.name,
        "library": str(made.library),
        "brought_by": made.brought_by or None,
        "paces": made.paces,
        "controls_cwnd": made.controls_cwnd,
        "ecn": made.ecn,
        "l4s": made.l4s,
        **made.facts,
    }
