"""Options that several verbs share, so that they mean the same in each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FIGURE_KINDS = (".svg", ".png", ".pdf")


class OutputPath(click.ParamType[Path]):
    """The path of a file to write; refused before the run, not after it."""

    name = "path"

    def __init__(self, *endings: str) -> None:
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the name's ending and that its folder can be written to."""
        path = Path(value)
        if path.suffix.lower() not in self.endings:
            self.fail(f"{value!r}: write a name that ends in {', '.join(self.endings)}", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"{value!r}: there is no folder {path.parent}; make it first", param, ctx)
        if path.is_dir() or not _takes_files(path.parent):
            self.fail(f"{value!r}: cannot be written; name another place", param, ctx)
        return path


def _takes_files(folder: Path) -> bool:
    """Return whether a file can be made there: permissions alone do not tell."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _chain(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


overrides = click.option(
    "--set", "overrides", metavar="PATH=VALUE", multiple=True,
    help='Override a field, e.g. --set queue.size="64 packets". May be repeated.',
)  # fmt: skip

scenario = _chain(click.argument("path", metavar="SCENARIO"), overrides)

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)

figure = click.option(
    "--figure",
    type=OutputPath(*FIGURE_KINDS),
    help="Draw the picture into a .svg, .png or .pdf file.",
)  # fmt: skip

engine = click.option(
    "--engine", default="simulation", show_default=True, metavar="NAME",
    help="theory, simulation or testbed.",
)  # fmt: skip

jobs = click.option(
    "--jobs", type=click.IntRange(min=0), default=0, metavar="N",
    help="Threads; 0, the default, means one a core. The answer does not depend on it; the testbed "
    "plays one replication after the other.",
)  # fmt: skip

seed = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, metavar="N",
    help="First seed.",
)  # fmt: skip


def seeds(default: int) -> Callable[[F], F]:
    """``--seeds K`` with the verb's own default."""
    return click.option(
        "--seeds", type=click.IntRange(1, 100_000), default=default, show_default=True,
        metavar="K", help="Replications, with seeds N, N+1, … Intervals come from these.",
    )  # fmt: skip
