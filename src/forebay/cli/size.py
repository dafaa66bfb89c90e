"""``forebay size``: the smallest buffer that meets the scenario's goals."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay.cli import options
from forebay.cli.output import print_json, say_drawn
from forebay.cli.progress import progress


@click.command("size")
@options.scenario
@options.engine
@options.seed
@options.seeds(5)
@click.option(
    "--max-seeds", type=click.IntRange(1, 100_000), default=None, metavar="K",
    help="Most replications to sizing where noise hides the answer.  [default: 4 x --seeds]",
)  # fmt: skip
@options.jobs
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    engine: str,
    seed: int,
    seeds: int,
    max_seeds: int | None,
    jobs: int,
    figure: Path | None,
    as_json: bool,
) -> int:
    """The smallest buffer that meets the scenario's goals, with the evidence.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml; its [goals] say what is enough.
    """
    if max_seeds is not None and max_seeds < seeds:
        wrong = f"{max_seeds} is fewer than --seeds {seeds}; write more"
        raise click.BadParameter(wrong, param_hint="--max-seeds")
    scenario = forebay.load(path, overrides)
    sizing = partial(forebay.size, seed=seed, seeds=seeds, max_seeds=max_seeds, jobs=jobs)
    try:
        with progress(f"sizing by {engine}") as update:
            result = sizing(scenario, engine, progress=update)
    except KeyboardInterrupt as stop:
        _keep(stop, as_json)
        raise
    answer = result.to_dict() | _memory(result, scenario)
    if figure is not None:
        _draw(answer, figure)
    _show(answer, as_json)
    return 0 if answer["buffer"] is not None else 1


def _memory(result: forebay.SizeResult, scenario: forebay.Scenario) -> dict[str, Any]:
    """What memory the answer takes: known to platforms, which a sizing knows nothing of."""
    if result.buffer is None:
        return {"memory": None}
    from forebay.platforms import memory_for

    memory = memory_for(result.buffer.bytes, float(scenario.link.rate))
    return {"memory": memory.to_dict() | {"text": memory.text}}


def _keep(stop: KeyboardInterrupt, as_json: bool) -> None:
    """Show what a stopped sizing had found, if it had found anything."""
    found: forebay.SizeResult | None = getattr(stop, "result", None)
    if found is not None and found.curve:
        _show(found.to_dict(), as_json)


def _draw(answer: dict[str, Any], path: Path) -> None:
    from forebay.report.figures import draw_size

    draw_size(answer, path)
    say_drawn(path)


def _show(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    from forebay.report import print_size

    print_size(answer)
