"""``forebay measure --counters --answer``: a size, judged by the port that has it."""

from __future__ import annotations

from collections.abc import Sequence

import click

import forebay
from forebay.cli.output import answered, print_json


def judge(
    path: str,
    table: str | None,
    rate: str | None,
    others: Sequence[object],
    *,
    as_json: bool,
) -> int:
    """Print the verdict; return 1 if the size should be changed."""
    if table is None or any(others):
        wrong = "--answer needs --counters FILE.csv" if table is None else "--answer only judges"
        raise click.UsageError(f"{wrong}; leave captures and outputs out")
    answer = forebay.SizeResult.load(path)
    found = forebay.measure.judge(table, answer, rate=rate)
    if as_json:
        print_json(found.to_dict())
    else:
        from forebay.report import print_judgement

        print_judgement(found.to_dict())
        answered()
    return found.exit_status
