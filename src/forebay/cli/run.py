"""``forebay run``: one answer from one engine."""

from __future__ import annotations

import click

import forebay
from forebay.cli import options
from forebay.cli.output import print_json
from forebay.cli.progress import progress


@click.command("run")
@options.scenario
@options.engine
@options.seed
@options.seeds(1)
@options.jobs
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    engine: str,
    seed: int,
    seeds: int,
    jobs: int,
    as_json: bool,
) -> None:
    """One answer from one engine.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml.
    """
    scenario = forebay.load(path, overrides)
    with progress(engine) as update:
        outcome = forebay.run(scenario, engine, seed=seed, seeds=seeds, jobs=jobs, progress=update)
    if as_json:
        print_json(outcome.model_dump(mode="json", by_alias=True))
        return
    from forebay.report import print_outcome

    print_outcome(outcome)
