"""``forebay size --again``: the runs of a saved answer once more."""

from __future__ import annotations

import click

import forebay
from forebay.cli.output import print_json, progress


def repeat(path: str, jobs: int, as_json: bool) -> int:
    """Run every buffer of a document once more; return 1 if a digit differs."""
    answer = forebay.SizeResult.load(path)
    with progress("again") as update:
        found = forebay.again(answer, jobs=jobs, told=update)
    same = len(found.packets) - len(found.different)
    if as_json:
        print_json({
            "schema": 1, "buffers": list(found.packets), "different": list(found.different),
            "answer": answer.to_dict(),
        })  # fmt: skip
    else:
        click.echo(f"{same} of {len(found.packets)} buffers gave the same digits")
        if found.different:
            click.echo(f"different: {', '.join(map(str, found.different))} packets")
    return 1 if found.different else 0
