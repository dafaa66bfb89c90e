"""What each class of traffic gets, one row a class, a mix split by congestion control."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from forebay.outcome import ClassOutcome, ControllerOutcome
from forebay.report.console import table
from forebay.report.numbers import mean, p99, plain, show, show_significant

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.outcome import Metric, Quantiles

Cell = Callable[[ClassOutcome], str]
_EMPTY = "–"


def _tail(quantiles: Quantiles | None, part: Callable[[Quantiles | None], Metric | None]) -> str:
    metric = part(quantiles)
    return _EMPTY if metric is None else plain(1e3 * metric.value)


def completion(each: ClassOutcome, part: Callable[[Quantiles | None], Metric | None]) -> str:
    """Return a part of the completion time in ms, or what it is at least: "≥ 900"."""
    known = _tail(each.fct_s, part)
    if known != _EMPTY:
        return known
    least = _tail(each.fct_least_s, part)
    return _EMPTY if least == _EMPTY else f"≥ {least}"


_COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("flows", lambda each: str(each.flows) if each.flows else _EMPTY),
    ("goodput\nMbit/s", lambda each: show(each.goodput_bps, 1e-6)),
    ("loss\n%", lambda each: show_significant(each.loss_rate, 100)),
    ("wait\nmean, ms", lambda each: _tail(each.queue_delay_s, mean)),
    ("wait\np99, ms", lambda each: _tail(each.queue_delay_s, p99)),
    ("completion\nmean, ms", lambda each: completion(each, mean)),
    ("completion\np99, ms", lambda each: completion(each, p99)),
    ("unfinished\n%", lambda each: show_significant(each.unfinished, 100)),
    ("Jain", lambda each: show(each.jain, 1, 2)),
)


def class_table(classes: Sequence[ClassOutcome]) -> Table:
    """Return a table of the classes; a column that no class has anything in is left out."""
    columns = [(title, [cell(each) for each in classes]) for title, cell in _COLUMNS]
    columns = [(title, cells) for title, cells in columns if any(cell != _EMPTY for cell in cells)]
    made = table("class", *(title for title, _ in columns))
    for at, each in enumerate(classes):
        made.add_row(called(each), *(cells[at] for _, cells in columns))
        for name, part in (each.controllers or {}).items():
            made.add_row(f"  {name}", *_controller(part, (title for title, _ in columns)))
    return made


def tells_of_classes(classes: Sequence[ClassOutcome]) -> bool:
    """Whether anything but their number is known of the classes."""
    return any(cell(each) != _EMPTY for each in classes for _, cell in _COLUMNS[1:])


def called(each: ClassOutcome) -> str:
    """Return a class's name, with its kind where the name does not begin with it."""
    return each.name if each.name.startswith(each.kind) else f"{each.name} ({each.kind})"


def _controller(part: ControllerOutcome, titles: Iterable[str]) -> list[str]:
    known = {
        "flows": str(part.flows),
        "goodput\nMbit/s": show(part.goodput_bps, 1e-6),
        "loss\n%": show_significant(part.loss_rate, 100),
        "Jain": show(part.jain, 1, 2),
    }
    return [known.get(title, "") for title in titles]
