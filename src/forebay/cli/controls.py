"""``forebay controls``: congestion controls from outside."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from forebay.api import controls
from forebay.cli import options
from forebay.cli.output import progress, show

if TYPE_CHECKING:
    from forebay.api.controls import Check, Installed, Shadow


@click.group("controls")
def command() -> None:
    """Congestion controls of your own, and modules of the Linux kernel."""


@options.as_command("build", command)
def build(
    sources: tuple[str, ...] = options.argument("FILE...", nargs=-1),
    name: str | None = options.text("NAME", "Its name in scenarios.  [default: its own]"),
    linux: str | None = options.text(
        "VERSION", "FILE is a module of this Linux's net/ipv4, such as 6.12."),
    hz: int | None = options.number(
        "N", 1, None, "Ticks of that kernel's clock.  [default: 1000]"),
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """Compile a control in C, C++, Rust or Zig, so that scenarios can name it.

    Further FILEs are compiled with the first, as tcp_yeah.c needs tcp_vegas.c.
    """
    made = controls.build(*sources, name=name, linux=linux, hz=hz)
    said = f'{made.name}: write congestion_control = "{made.name}" in a scenario'
    document = {"schema": 1, "control": _document(made)}
    show(document, as_json, lambda _: click.echo(said))


@options.as_command("list", command)
def list_command(as_json: bool = options.as_json) -> None:
    """List the controls that were built here, and those of installed distributions."""
    found = controls.listed()
    lines = [f"{each.name:20} {each.brought_by or each.source}" for each in found]
    document = {"schema": 1, "controls": [_document(each) for each in found]}
    lines = lines or ["none; build one with: forebay controls build FILE.c"]
    show(document, as_json, lambda _: click.echo("\n".join(lines)))


@options.as_command("check", command)
def check(name: str = options.argument("NAME"), as_json: bool = options.as_json) -> int:
    """Run the conformance suite on a control, twice and in two threads.

    The exit status is 1 if it lacks a property or does not repeat. Hooks that are never called are
    named.
    """
    with progress(name) as update:
        found = controls.check(name, progress=update)
    document = {"schema": 1, "control": name, "passes": found.passes, **asdict(found)}
    show(document, as_json, lambda _: _print_check(found))
    return 0 if found.passes else 1


def _print_check(found: Check) -> None:
    held = [
        (said if seen is None else f"{said}: {seen}", seen is None)
        for said, seen in found.properties.items()
    ]
    held.append(("the same run gives the same answer", found.repeats))
    held.append(("it does in two threads", found.repeats_in_threads))
    for said, holds in held:
        click.echo(f"{'yes' if holds else 'NO '} {said}")
    if found.never_called:
        click.echo(f"never called: {', '.join(found.never_called)}")


@options.as_command("compare", command)
def compare(
    ours: str = options.argument("OURS"),
    other: str = options.argument("NAME|FILE.so"),
    source: options.Source = options.scenario_from("[SCENARIO]"),
    seed: int = options.seed,
    seeds: int = options.seeds(1),
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """Let OURS steer, show NAME the same ACKs, and count the calls where it would do otherwise.

    Every TCP flow of SCENARIO has OURS; without it the flows of oc3-gsr do.
    """
    scenario = None if source.path is None else source.load()
    with progress(f"{ours} and {other}") as update:
        found = controls.compare(ours, other, scenario, seed=seed, seeds=seeds, progress=update)
    document = {
        "schema": 1, "ours": ours, "other": other, "calls": found.calls,
        "differing": found.differing, "share": found.share, "first": list(found.first),
    }  # fmt: skip
    show(document, as_json, lambda _: _print_shadow(found))


def _print_shadow(found: Shadow) -> None:
    click.echo(f"{found.other} beside {found.ours}: {found.share:.3%} of all calls differ")
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
    given = first.get("inputs", {}).items()
    values = (f"{key} {format(of, 'g') if isinstance(of, float) else of}" for key, of in given)
    return "\n".join((*lines, f"  {', '.join(values)}")).rstrip()


def _document(made: Installed) -> dict[str, Any]:
    own = {name: getattr(made, name) for name in ("paces", "controls_cwnd", "ecn", "l4s")}
    brought_by = made.brought_by or None
    return {
        "name": made.name, "library": str(made.library), "brought_by": brought_by,
        **own, **made.facts,
    }  # fmt: skip
