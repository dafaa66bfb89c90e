"""The report of a study: means over seeds of its cells, and differences of a one-axis study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import Metric
from forebay.outcome.study import StudyRow, StudyTable
from forebay.report.tables import console, show, show_significant, show_table, table

if TYPE_CHECKING:
    from rich.console import Console

_BOTTLENECK = "bottleneck"
_SIZINGS = "one sizing a cell; low and high are the ends of the least's interval"
_TITLES = {
    "buffer.packets": "least\npackets",
    "target.packets": "least target\npackets",
    "recommended_target.packets": "recommended target\npackets",
    "min.packets": "least min\npackets",
    "recommended_min.packets": "recommended min\npackets",
    **{f"{sized}.{end}": end for sized in ("buffer", "target", "min") for end in ("low", "high")},
    "recommended.packets": "recommended\npackets",
}
_LINK_TITLES = {
    "utilization": "used\n%",
    "loss_rate": "loss\n%",
    "queue_delay_s.mean": "wait\nmean, ms",
    "queue_delay_s.p99": "wait\np99, ms",
}
_DIFFERS = {
    "utilization": ("uses less", "uses more"),
    "loss_rate": ("loses less", "loses more"),
    "queue_delay_s.mean": ("waits less", "waits longer"),
}


def print_study(study: StudyTable, most: int) -> None:
    """Print a table of the cells, at most so many of them."""
    out = console()
    out.print(study.title, style="bold")
    for line in unsettled_line(study):
        out.print(line, style="bold yellow")
    out.print(_SIZINGS if _sized(study) else "mean over seeds ± half of the 95 % interval")
    _print(out, study.names, study.columns, study.rows[:most])
    if len(study.rows) > most:
        out.print(f"… and {len(study.rows) - most:,} more cells, which --export writes")
    if study.differences:
        _print_differences(out, study, most)


def _sized(study: StudyTable) -> bool:
    return any(column.startswith(("buffer.", "target.", "min.")) for column in study.columns)


def unsettled_line(study: StudyTable) -> list[str]:
    """Return a line if flows had not settled in some cells, which then have no intervals."""
    if not study.unsettled:
        return []
    these = f"{study.unsettled:,} of {len(study.rows):,} cells"
    return [
        f"{these} have no intervals: their flows had not settled; a longer measure.warmup waits "
        "for them"
    ]


def _print(
    out: Console, names: Sequence[str], columns: Sequence[str], rows: Sequence[StudyRow]
) -> None:
    titles = (name.rpartition(".")[0] + "\n" + name.rpartition(".")[2] for name in names)
    made = table(*titles, *map(title_of, columns), left=len(names))
    for row in rows:
        shown = (cell(c, m) for c, m in zip(columns, row.metrics, strict=True))
        made.add_row(*map(str, row.values), *shown)
    show_table(out, made)


def title_of(column: str) -> str:
    """Return the title of a column, with its unit on a second line."""
    for metric, title in _LINK_TITLES.items():
        link = column.removeprefix("link.").removesuffix(f".{metric}")
        if column == f"link.{link}.{metric}":
            return title if link == _BOTTLENECK else link + "\n" + title.replace("\n", " ")
    return _TITLES.get(column, column)


def cell(column: str, metric: Metric | None) -> str:
    """Return a mean in the unit of its title: "98.0 ±0.3"."""
    if column.partition(".")[0].split("_")[0] in ("buffer", "target", "min", "recommended"):
        return show(metric, 1.0, 0)
    return show_significant(metric, _factor(column))


def _factor(column: str) -> float:
    if "_s." in column or column.endswith("_s"):
        return 1e3
    return 100.0 if column.endswith(("utilization", "loss_rate")) else 1.0


def _print_differences(out: Console, study: StudyTable, most: int) -> None:
    """Print each cell minus the first one, over the seeds of both, and what that says."""
    first = study.rows[0].values[0]
    out.print()
    out.print(f"Difference from {first}, paired by seed", style="bold")
    made = table(*study.names, *map(title_of, study.columns), "")
    for row in study.differences[:most]:
        shown = (cell(c, m) for c, m in zip(study.columns, row.metrics, strict=True))
        made.add_row(*map(str, row.values), *shown, verdict(study.columns, row))
    show_table(out, made)


def verdict(columns: Sequence[str], row: StudyRow) -> str:
    """Return which metrics differ: "uses more, loses less"; those whose interval has no 0."""
    if not row.settled:
        return "not settled"
    said = []
    known = False
    for column, metric in zip(columns, row.metrics, strict=True):
        words = next((w for end, w in _DIFFERS.items() if column.endswith(f".{end}")), None)
        if metric is None or words is None or metric.low is None or metric.high is None:
            continue
        known = True
        if metric.high < 0.0 or metric.low > 0.0:
            said.append(words[metric.low > 0.0])
    if not known:
        return "write two seeds or more"
    return ", ".join(said) or "no difference shown"
