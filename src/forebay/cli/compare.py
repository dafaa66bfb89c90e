"""``forebay compare``: the same scenario in several engines, side by side."""

from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import in_line, progress, say, show
from forebay.scenario.overrides import value_of

_KERNEL = {"pfifo": "drop-tail", "pfifo_fast": "drop-tail"}
"""Linux's names of drop-tail, which --vary takes too."""
_CANNOT = 3
"""Exit status of an engine that cannot run here. Its column is left out unless it was named."""


@options.as_command("compare")
def command(
    source: options.Source = options.scenario,
    engines: tuple[str, ...] = options.text(
        "--engine NAME", "An engine; repeat it for each column. Without it: every engine that can "
        "run here.", multiple=True),
    vary: str | None = options.text(
        "PATH=A,B", "Instead of engines: a column for each value, "
        "queue.discipline=drop-tail,cake,fq_codel."),
    effort: dict[str, Any] = options.effort(
        "seed seeds jobs memory_limit budget store", seeds=options.seeds(5)),
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """The same scenario in several engines, side by side.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml.
    """
    scenario, titles = source.load(), list[str]()
    if vary is not None:
        titles, outcomes = _varied(scenario, vary, engines, effort)
    elif engines:
        with progress(" · ".join(engines)) as update:
            outcomes = forebay.compare(scenario, engines, progress=update, **effort)
    else:
        outcomes = _those_that_can(scenario, effort)
    comparison = report.Comparison(outcomes=tuple(outcomes), titles=tuple(titles))
    show(comparison, as_json, report.print_answer)


def _varied(
    scenario: forebay.Scenario, vary: str, engines: tuple[str, ...], effort: dict[str, Any]
) -> tuple[list[str], list[forebay.Outcome]]:
    """Return the values of a field, and the outcome of one engine with each."""
    path, equals, text = vary.partition("=")
    values = _values(text)
    if not equals or len(values) < 2 or len(engines) > 1:
        wrong = "compares several values in one engine"
        hint = "write PATH=A,B, such as queue.discipline=drop-tail,cake,fq_codel"
        raise click.BadParameter(f"{wrong}; {hint}", param_hint="--vary")
    given = [value_of(_KERNEL.get(value, value)) for value in values]
    changed = [scenario.replace({path.strip(): value}) for value in given]
    outcomes = []
    for value, case in zip(values, changed, strict=True):
        with progress(value) as update:
            outcomes += forebay.compare(case, engines or ("simulation",), progress=update, **effort)
    return values, outcomes


def _values(text: str) -> list[str]:
    """Return the texts between commas; one in quotes, brackets or braces is of its value."""
    values: list[str] = []
    for part in text.split(","):
        last = values[-1] if values else ""
        if last.count('"') % 2 or any(last.count(a) > last.count(b) for a, b in ("[]", "{}")):
            values[-1] = f"{last},{part}"
        else:
            values.append(part)
    return [value.strip() for value in values if value.strip()]


def _those_that_can(scenario: forebay.Scenario, effort: dict[str, Any]) -> list[forebay.Outcome]:
    """Run every engine; report those that cannot run here, and why."""
    outcomes = []
    for engine in forebay.engine_names():
        try:
            with progress(engine) as update:
                outcomes += forebay.compare(scenario, [engine], progress=update, **effort)
        except Exception as error:
            if getattr(error, "exit_status", None) != _CANNOT:
                raise
            say(f"column {engine} left out: {in_line(error)}")
    return outcomes
