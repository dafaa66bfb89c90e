"""``forebay controls``: congestion controls from outside."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from forebay.api import controls
from forebay.cli import options
from forebay.cli.output import progress, show
from forebay.words import format_number

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
    control = controls.build(*sources, name=name, linux=linux, hz=hz)
    said = f'{control.name}: write congestion_control = "{control.name}" in a scenario'
    document = {"schema": 1, "control": _document(control)}
    show(document, as_json, lambda _: click.echo(said))


@options.as_command("list", command)
def list_command(as_json: bool = options.as_json) -> None:
    """List the controls that were built here, and those of installed distributions."""
    installed = controls.listed()
    lines = [f"{control.name:20} {control.brought_by or control.source}" for control in installed]
    document = {"schema": 1, "controls": [_document(control) for control in installed]}
    lines = lines or ["none; build one with: forebay controls build FILE.c"]
    show(document, as_json, lambda _: click.echo("\n".join(lines)))


@options.as_command("check", command)
def check(name: str = options.argument("NAME"), as_json: bool = options.as_json) -> int:
    """Run the conformance suite on a control, twice and in two threads.

    The exit status is 1 if it lacks a property or does not repeat. Hooks that are never called are
    named.
    """
    with progress(name) as update:
        result = controls.check(name, progress=update)
    document = {"schema": 1, "control": name, "passes": result.passes, **asdict(result)}
    show(document, as_json, lambda _: _print_check(result))
    return 0 if result.passes else 1


def _print_check(result: Check) -> None:
    held = [
        (said if seen is None else f"{said}: {seen}", seen is None)
        for said, seen in result.properties.items()
    ]
    held.append(("the same run gives the same answer", result.repeats))
    held.append(("it does in two threads", result.repeats_in_threads))
    for said, holds in held:
        click.echo(f"{'yes' if holds else 'NO '} {said}")
    if result.never_called:
        click.echo(f"never called: {', '.join(result.never_called)}")


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
        shadow = controls.compare(ours, other, scenario, seed=seed, seeds=seeds, progress=update)
    document = {
        "schema": 1, "ours": ours, "other": other, "calls": shadow.calls,
        "differing": shadow.differing, "share": shadow.share, "first": list(shadow.first),
    }  # fmt: skip
    show(document, as_json, lambda _: _print_shadow(shadow))


def _print_shadow(shadow: Shadow) -> None:
    share = format_number(shadow.share, ".3%")
    click.echo(f"{shadow.other} beside {shadow.ours}: {share} of all calls differ")
    for hook, calls in shadow.calls.items():
        if calls:
            click.echo(f"  {hook:18} {shadow.differing[hook]:9} of {calls}")
    for first in shadow.first:
        click.echo(_first(first))


def _first(first: dict[str, Any]) -> str:
    lines = [f"first {first['hook']} that differs, at {first['at_s']:.6f} s"]
    for who in ("before", "ours", "other"):
        cwnd, ssthresh, rate = first[who]
        slow = "" if ssthresh is None else f", ssthresh {ssthresh:.6g}"
        paced = "" if rate is None else f", {rate:.6g} segments/s"
        lines.append(f"  {who:7} cwnd {cwnd:.6g}{slow}{paced}")
    given = ((key, of) for key, of in first.get("inputs", {}).items() if of is not None)
    values = (f"{key} {format(of, 'g') if isinstance(of, float) else of}" for key, of in given)
    return "\n".join((*lines, f"  {', '.join(values)}")).rstrip()


def _document(control: Installed) -> dict[str, Any]:
    own = {name: getattr(control, name) for name in ("paces", "controls_cwnd", "ecn", "l4s")}
    brought_by = control.brought_by or None
    return {
        "name": control.name, "library": str(control.library), "brought_by": brought_by,
        **own, **control.facts,
    }  # fmt: skip
