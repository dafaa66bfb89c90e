"""``forebay size``: the smallest buffer that meets the scenario's goals."""

from __future__ import annotations

from pathlib import Path

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
    help="Most replications to spend where noise hides the answer.  [default: 4 x --seeds]",
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
        raise click.BadParameter(
            f"{max_seeds} is fewer than --seeds {seeds}; write more", param_hint="--max-seeds"
        )
    scenario = forebay.load(path, overrides)
    with progress(f"sizing by {engine}") as update:
        result = forebay.size(
            scenario,
            engine,
            seed=seed,
            seeds=seeds,
            max_seeds=max_seeds,
            jobs=jobs,
            progress=update,
        )
    answer = result.to_dict()
    if figure is not None:
        from forebay.report.figures import draw_size

        draw_size(answer, figure)
        say_drawn(figure)
    if as_json:
        print_json(answer)
    else:
        from forebay.report import print_size

        print_size(answer)
    return 0 if answer["buffer"] is not None else 1
