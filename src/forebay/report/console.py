"""Where text goes: colour on a terminal, plain text 80 columns wide anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDEST = 100  # a table torn over a very wide window is hard to read along


def console() -> Console:
    """Return a console on stdout; what is piped or redirected gets no escape codes."""
    import sys

    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal loses a ±, not the answer

    class OnStdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program decides what `forebay … | head` ends with

    out = OnStdout(highlight=False, soft_wrap=False, emoji=False, markup=False)
    out.width = min(out.width, _WIDEST)
    return out


def show_table(out: Console, made: Table) -> None:
    """Print a table whole: wider than the terminal rather than with a number cut off."""
    from rich.cells import cell_len
    from rich.measure import Measurement

    for column in made.columns:
        if column.no_wrap:
            texts = (str(column.header), *map(str, column.cells))
            column.min_width = max(cell_len(line) for text in texts for line in text.split("\n"))
    least = Measurement.get(out, out.options.update(max_width=1000), made).minimum
    if least > out.width:
        made.width = least
    out.print(made, crop=False)


def table(*columns: str, left: int = 1) -> Table:
    """Return a bare table; the first ``left`` columns are words, the others numbers.

    Words fold, numbers never do; print it with `show_table`.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for place, name in enumerate(columns):
        words = place < left
        made.add_column(
            name, justify="left" if words else "right", overflow="fold", no_wrap=not words
        )
    return made
