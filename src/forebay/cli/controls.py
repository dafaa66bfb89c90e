"""``forebay controls``: congestion controls from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay.api import controls
from forebay.cli import options
from forebay.cli.output import print_json, progress

if TYPE_CHECKING:
    from forebay.api.controls import Installed


@click.group("controls")
def command() -> None:
    """Congestion controls of your own, and modules of the Linux kernel."""


@command.command("build")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@click.option("--name", metavar="NAME", help="Its name in scenarios.  [default: its own]")
@click.option(
    "--linux", metavar="VERSION", help="FILE is a module of this Linux's net/ipv4, such as 6.12."
)
@click.option(
    "--hz",
    type=options.WholeNumber(1),
    metavar="N",
    help="Ticks of that kernel's clock.  [default: 1000]",
)
@options.as_json
def build(
    sources: tuple[str, ...], name: str | None, linux: str | None, hz: int | None, as_json: bool
) -> None:
    """Compile a control in C, C++, Rust or Zig, so that scenarios can name it.

    Further FILEs are compiled with the first, as tcp_yeah.c needs tcp_vegas.c.
    """
    made = controls.build(*sources, name=name, linux=linux, hz=hz)
    if as_json:
        print_json({"schema": 1, "control": _document(made)})
    else:
        click.echo(f'{made.name}: write congestion_control = "{made.name}" in a scenario')


@command.command("list")
@options.as_json
def list_command(as_json: bool) -> None:
    """List the controls that were built here, and those of installed distributions."""
    found = controls.listed()
    if as_json:
        print_json({"schema": 1, "controls": [_document(each) for each in found]})
        return
    for each in found:
        click.echo(f"{each.name:20} {each.brought_by or each.source}")
    if not found:
        click.echo("none; build one with: forebay controls build FILE.c")


@command.command("check")
@click.argument("name", metavar="NAME")
@options.as_json
@click.pass_context
def check(ctx: click.Context, name: str, as_json: bool) -> None:
    """Run the conformance suite on a control, twice and in two threads.

    The exit status is 1 if it lacks a property or does not repeat. Hooks that are never called are
    named.
    """
    with progress(name) as update:
        found = controls.check(name, progress=update)
    if as_json:
        print_json(
            {
                "schema": 1,
                "control": name,
                "passes": found.passes,
                "properties": found.properties,
                "repeats": found.repeats,
                "repeats_in_threads": found.repeats_in_threads,
                "never_called": list(found.never_called),
            }
        )
    else:
        for said, seen in found.properties.items():
            click.echo(
                f"{'yes' if seen is None else 'NO '} {said}{'' if seen is None else f': {seen}'}"
            )
        click.echo(f"{'yes' if found.repeats else 'NO '} the same run gives the same answer")
        threads = found.repeats_in_threads
        click.echo(f"{'yes' if threads else 'NO '} it does in two threads")
        if found.never_called:
            click.echo(f"never called: {', '.join(found.never_called)}")
    ctx.exit(0 if found.passes else 1)


@command.command("compare")
@click.argument("ours", metavar="OURS")
@click.argument("other", metavar="NAME|FILE.so")
@click.argument("path", metavar="[SCENARIO]", required=False)
@options.overrides
@options.seed
@options.seeds(1)
@options.as_json
def compare(
    ours: str,
    other: str,
    path: str | None,
    overrides: tuple[str, ...],
    seed: int,
    seeds: int,
    as_json: bool,
) -> None:
    """Let OURS steer, show NAME the same ACKs, and count the calls where it would do otherwise.

    Every TCP flow of SCENARIO has OURS; without it the flows of oc3-gsr do.
    """
    scenario = None if path is None else forebay.load(path, overrides)
    with progress(f"{ours} and {other}") as update:
        found = controls.compare(ours, other, scenario, seed=seed, seeds=seeds, progress=update)
    if as_json:
        print_json(
            {
                "schema": 1,
                "ours": ours,
                "other": other,
                "calls": found.calls,
                "differing": found.differing,
                "share": found.share,
                "first": list(found.first),
            }
        )
        return
    click.echo(f"{other} beside {ours}: {found.share:.3%} of all calls differ")
    for hook, calls in found.calls.items():
        if calls:
            click.echo(f"  {hook:18} {found.differing[hook]:9} of {calls}")
    for first in found.first:
        click.echo(_first(first))


def _first(first: dict[str, Any]) -> str:
    lines = [f"first {first['hook']} that differs, at {first['at_s']:.6f} s"]
    for who in ("before", "ours", "other"):
        cwnd, ssthresh, rate = first[who]
        paced = "" if rate is None else f", {rate:.6g} segments/s"
        lines.append(f"  {who:7} cwnd {cwnd:.6g}, ssthresh {ssthresh:.6g}{paced}")
    given = first.get("inputs", {})
    lines.append(
        "  "
        + ", ".join(
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in given.items()
        )
    )
    return "\n".join(lines).rstrip()


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
