"""The report of a study: means over seeds of its cells, and differences of a one-axis study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forebay.outcome import Metric
from forebay.outcome.study import StudyRow, StudyTable
from forebay.outcome.uncertain import Influence, InputInfluence, Sensitivity, UncertainSize
from forebay.report.tables import console, show, show_significant, show_table, table
from forebay.words import format_number

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
    **{
        f"recommended{sized}.{end}": title
        for sized in ("", "_target", "_min")
        for end, title in (
            ("utilization", "used\n%"),
            ("loss_rate", "loss\n%"),
            ("queue_delay_p99", "wait\np99, ms"),
        )
    },
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
    sized = any(column.startswith(("buffer.", "target.", "min.")) for column in study.columns)
    out.print(_SIZINGS if sized else "mean over seeds ± half of the 95 % interval")
    titles = (name.rpartition(".")[0] + "\n" + name.rpartition(".")[2] for name in study.names)
    grid = table(*titles, *map(title_of, study.columns), left=len(study.names))
    for row in study.rows[:most]:
        shown = (cell(c, m) for c, m in zip(study.columns, row.metrics, strict=True))
        grid.add_row(*map(str, row.values), *shown)
    show_table(out, grid)
    if len(study.rows) > most:
        out.print(f"… and {len(study.rows) - most:,} more cells, which --export writes")
    if study.differences:
        _print_differences(out, study, most)


def unsettled_line(study: StudyTable) -> list[str]:
    """Return a line if flows had not settled in some cells, which then have no intervals."""
    if not study.unsettled:
        return []
    these = f"{study.unsettled:,} of {len(study.rows):,} cells"
    return [
        f"{these} have no intervals: their flows had not settled; a longer measure.warmup waits "
        "for them"
    ]


def title_of(column: str) -> str:
    """Return the title of a column, with its unit on a second line."""
    for metric, title in _LINK_TITLES.items():
        link = column.removeprefix("link.").removesuffix(f".{metric}")
        if column == f"link.{link}.{metric}":
            return title if link == _BOTTLENECK else link + "\n" + title.replace("\n", " ")
    return _TITLES.get(column, column)


def cell(column: str, metric: Metric | None) -> str:
    """Return a mean in the unit of its title: "98.0 ±0.3"."""
    if column.endswith((".packets", ".bytes", ".low", ".high")):
        return show(metric, 1.0, 0)
    return show_significant(metric, _factor(column))


def _factor(column: str) -> float:
    if "_s." in column or column.endswith(("_s", ".queue_delay_p99")):
        return 1e3
    return 100.0 if column.endswith(("utilization", "loss_rate")) else 1.0


def _print_differences(out: Console, study: StudyTable, most: int) -> None:
    """Print each cell minus the first one, over the seeds of both, and what that says."""
    first = study.rows[0].values[0]
    out.print()
    out.print(f"Difference from {first}, paired by seed", style="bold")
    grid = table(*study.names, *map(title_of, study.columns), "")
    for row in study.differences[:most]:
        shown = (cell(c, m) for c, m in zip(study.columns, row.metrics, strict=True))
        grid.add_row(*map(str, row.values), *shown, verdict(study.columns, row))
    show_table(out, grid)


def verdict(columns: Sequence[str], row: StudyRow) -> str:
    """Return which metrics differ: "uses more, loses less"; those whose interval has no 0."""
    if all(metric is None for metric in row.metrics):
        return "not run"
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


def size_words(sized: str, packets: float) -> str:
    """Return a size in words: "135 packets", or of an AQM "a target of 8 packets at line rate"."""
    amount = f"{packets:.0f} packet{'' if round(packets) == 1 else 's'}"
    return amount if sized == "buffer" else f"a {sized} of {amount} at line rate"


def text(answer: UncertainSize | Sensitivity) -> str:
    """Return an answer as lines of text."""
    lines = _of_size(answer) if isinstance(answer, UncertainSize) else _of_inputs(answer)
    return "\n".join(lines)


def _of_size(answer: UncertainSize) -> Iterator[str]:
    yield _answer(answer)
    yield _held(answer)
    if answer.recommended is not None:
        size = size_words(answer.sized, answer.recommended)
        yield f"configure {size}, the upper end of that interval"
        yield from _recommended_above(answer, answer.recommended)
    elif answer.reason is not None:
        yield f"no size is recommended: {answer.reason}"
    if answer.as_written is not None:
        yield f"the scenario as it is written needs {size_words(answer.sized, answer.as_written)}"
    if answer.impossible:
        yield f"no buffer at all meets the goals in {answer.impossible} draws"
    if answer.unanswered:
        open_ = (draw for draw in answer.draws if draw.least is None and draw.state != "no buffer")
        yield f"{answer.unanswered} draws have no answer, the first: {next(open_).state}"
    yield from map(_share, answer.influences)


def _answer(answer: UncertainSize) -> str:
    of = f"the goals in {format_number(answer.holds, '.0%')} of the draws, by {answer.engine}"
    if answer.buffer is None:
        no = "no size is shown to meet" if answer.exit_status == 3 else "no buffer meets"
        return f"{no} {of}"
    size, high = answer.buffer, answer.buffer.high
    interval = f"{size.low} or more" if high is None else f"{size.low} to {high}"
    meet = "meet" if answer.sized == "buffer" else "meets"
    return (
        f"{size_words(answer.sized, size.packets)} ({size.bytes:,} B) {meet} {of}; 95 % interval "
        f"{interval}"
    )


def _held(answer: UncertainSize) -> str:
    held, ends = answer.held, ""
    if held.low is not None and held.high is not None:
        low, high = (format_number(end, ".1%") for end in (held.low, held.high))
        ends = f" (95 % interval {low} to {high})"
    they = "they hold in" if answer.sized == "buffer" else "it holds in"
    what = they if answer.buffer is not None else "the best size holds in"
    return f"{what} {format_number(held.value, '.1%')} of {len(answer.draws)} draws{ends}"


def _recommended_above(answer: UncertainSize, packets: int) -> Iterator[str]:
    """Say what only a sizing of one scenario counts beside its goals."""
    sizes = [draw.recommended for draw in answer.draws if draw.recommended is not None]
    above = [size for size in sizes if size > packets]
    if above:
        yield (
            f"this counts the goals alone: in {len(above)} of {len(answer.draws)} draws a sizing "
            f"recommends more, up to {max(above):.0f} packets, for a usable loss or for bursts"
        )


def _share(of: InputInfluence) -> str:
    share = (
        f"{format_number(of.share, '4.0%')} of the variance" if of.shown else "no influence shown"
    )
    levels = ", ".join(f"{packets:.0f} at {said}" for said, packets in of.levels)
    return f"  {of.path:32} {share:>21}: {levels}"


def _of_inputs(answer: Sensitivity) -> Iterator[str]:
    said = "no answer" if answer.packets is None else size_words(answer.sized, answer.packets)
    how = "by its range" if answer.change is None else f"by ±{answer.change:.0%}"
    yield f"{said} by {answer.engine}; each input changed {how}"
    if answer.reason is not None:
        yield answer.reason
    yield from map(_elasticity, answer.influences)
    if answer.method == "sobol":
        yield _of_indices(answer)


def _elasticity(of: Influence) -> str:
    ends = " … ".join("–" if v is None else f"{v:.0f}" for v in (of.low, of.high))
    power = "–" if of.elasticity is None else f"{of.elasticity:+.2f}"
    line = f"  {of.path:34} {ends:>16} packets, elasticity {power:>5}"
    if of.first is None or of.total is None:
        return line
    alone, in_all = (format_number(metric.value, "4.0%") for metric in (of.first, of.total))
    return f"{line}, variance {alone} alone, {in_all} in all"


def _of_indices(answer: Sensitivity) -> str:
    if not answer.draws:
        return (
            f"no shares of the variance: of {answer.asked_draws} rows of the design too few had an "
            "answer at every place"
        )
    return (
        f"variance: Sobol's first-order and total index of {answer.draws} draws of all inputs "
        f"together, 95 % intervals up to ±{100 * _widest(answer):.0f} points; an input whose total "
        "is larger acts together with others"
    )


def _widest(answer: Sensitivity) -> float:
    """Return the largest half-width of the indices' intervals."""
    both = (m for influence in answer.influences for m in (influence.first, influence.total) if m)
    ends = [(m.low, m.value, m.high) for m in both if m.low is not None and m.high is not None]
    return max((max(high - value, value - low) for low, value, high in ends), default=0.0)
