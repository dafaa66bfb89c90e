"""``forebay compare``: the same scenario in several engines, side by side."""

from __future__ import annotations

import click

import forebay
from forebay.cli import options
from forebay.cli.output import print_json
from forebay.cli.progress import progress


@click.command("compare")
@options.scenario
@click.option(
    "--engine", "engines", multiple=True, metavar="NAME",
    help="An engine; repeat it for each column. Without it: every engine that there is.",
)  # fmt: skip
@options.seed
@options.seeds(5)
@options.jobs
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    engines: tuple[str, ...],
    seed: int,
    seeds: int,
    jobs: int,
    as_json: bool,
) -> None:
    """The same scenario in several engines, side by side.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml.
    """
    scenario = forebay.load(path, overrides)
    chosen = engines or forebay.engine_names()
    with progress(" · ".join(chosen)) as update:
        outcomes = forebay.compare(
            scenario, chosen, seed=seed, seeds=seeds, jobs=jobs, progress=update
        )
    if as_json:
        dumped = [each.model_dump(mode="json", by_alias=True) for each in outcomes]
        print_json({"schema": 1, "outcomes": dumped})
        return
    from forebay.report import print_comparison

    print_comparison(outcomes)
