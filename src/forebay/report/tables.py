"""Readable numbers, tables of numbers, and the console that prints them."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from forebay.outcome import (
    ClassOutcome,
    ControllerOutcome,
    GoalResult,
    LinkOutcome,
    LinkRates,
    Metric,
    Outcome,
    Quantiles,
    Relaxation,
    SizeResult,
)
from forebay.words import format_number

NOT_MEASURED = "–"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def _part(name: str) -> Callable[[Quantiles | None], Metric | None]:
    return lambda quantiles: None if quantiles is None else getattr(quantiles, name)


mean, p50, p95, p99 = map(_part, ("mean", "p50", "p95", "p99"))
"""Return a part of a distribution, or None if it was not measured."""


def percent(metric: Metric | None) -> Metric | None:
    """Return a fraction as a percentage, with its interval; None stays None."""
    return None if metric is None else metric.scaled(100.0)


def show(metric: Metric | None, factor: float = 1.0, digits: int = 2) -> str:
    """Format ``value ±half-width`` with ``digits`` decimals, or – if not measured.

    An interval whose halves differ by more than a unit of the last decimal, as one that ends at
    100 %, is written with both ends. A number below 1 has two digits at least: 0.0098 of a link of
    10 kbit/s.
    """
    if metric is None:
        return NOT_MEASURED
    metric = metric.scaled(factor)
    half = metric.half_width
    largest = max(abs(metric.value), half or 0.0)
    if digits and largest:
        digits = min(max(digits, 1 - _exponent(largest, 2)), 6)
    if metric.is_open:
        return f"≥ {metric.value:.{digits}f}"
    value = f"{metric.value:.{digits}f}"
    if half is None:
        return value
    if _is_lopsided(metric, digits):
        return f"{value} ({show_interval(metric, 1, digits)})"
    return f"{value} ±{half:.{digits}f}"


def short(metric: Metric | None, factor: float) -> str:
    """Format a metric's value alone, to three digits, or – if not measured."""
    return NOT_MEASURED if metric is None else plain(factor * metric.value)


def number(value: float | None, factor: float) -> str:
    """Format a number to four digits; below 1e-12 it is 0. – if there is none."""
    if value is None:
        return NOT_MEASURED
    return "0" if abs(value) < 1e-12 else format_number(value * factor, ".4g")


def show_significant(metric: Metric | None, factor: float = 1.0) -> str:
    """Format a metric of any size, with the value to the same digit as its interval.

    The half-width has two digits if the first is 1 or 2, else one: 0.381 ±0.021, but
    5.16 ±0.06. An interval whose halves differ by more than a unit of that digit is written with
    both ends.
    """
    if metric is None:
        return NOT_MEASURED
    metric = metric.scaled(factor)
    if metric.is_open:
        return f"≥ {plain(metric.value)}"
    half = metric.half_width
    if not half or half < _finest(metric.value):
        return plain(metric.value)
    digits = 2 if f"{half:.0e}"[0] in "12" else 1
    decimals = min(max(digits - 1 - _exponent(half, 1), 0), 6)
    if metric.low is not None and metric.high is not None and _is_lopsided(metric, decimals):
        return f"{plain(metric.value)} ({plain(metric.low)} … {plain(metric.high)})"
    return f"{metric.value:.{decimals}f} ±{half:.{decimals}f}"


def _is_lopsided(metric: Metric, decimals: int) -> bool:
    """Whether the halves of the interval differ by more than a unit of the last decimal shown."""
    low, high = metric.value - (metric.low or 0.0), (metric.high or 0.0) - metric.value
    return abs(high - low) > 10.0**-decimals


def _finest(value: float) -> float:
    """Half a unit of the third digit; a narrower interval is finer than three digits."""
    return 0.5 * 10.0 ** (_exponent(value, 3) - 2) if value else 0.0


def show_interval(metric: Metric | None, factor: float, digits: int) -> str:
    """Format only the interval, ``98.11 … 98.52``."""
    if metric is None or metric.low is None:
        return NOT_MEASURED
    metric = metric.scaled(factor)
    if metric.high is None:
        return f"{metric.low:.{digits}f} or more"
    return f"{metric.low:.{digits}f} … {metric.high:.{digits}f}"


def plain(value: float, significant: int = 3) -> str:
    """Format a number to ``digits``, without an exponent if that is readable."""
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e15:
        decimals = significant - 1 - _exponent(value, significant)
        return f"{value:.{max(decimals, 0)}f}"
    return f"{value:.{significant - 1}e}"


def with_prefix(value: float, unit: str) -> str:
    """Format 193500, "B" as ``193.5 kB``: four digits and a decimal prefix."""
    size, prefix = next((p for p in _PREFIXES if abs(value) >= p[0]), _PREFIXES[-1])
    return f"{value / size:.4g} {prefix}{unit}"


def duration(seconds: float) -> str:
    """Format a time in a readable unit: µs, ms or s."""
    if seconds >= 1:
        return f"{plain(seconds)} s"
    return f"{plain(seconds * 1e3)} ms" if seconds >= 1e-3 else f"{plain(seconds * 1e6)} µs"


def whole_packets(packets: float) -> int:
    """Round a law's result up, up to errors of a division: 127.03 gives 128."""
    return ceil(packets - 1e-6)


def count(number: float, thing: str) -> str:
    """Format a count as "1 packet" or "2 packets"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _exponent(value: float, significant: int) -> int:
    """Return the power of ten of the first digit after rounding: 9.999 to three digits is 10.0."""
    return int(f"{abs(value):.{significant - 1}e}".split("e")[1])


_WIDEST = 100  # a table across a very wide window is hard to read


def console() -> Console:
    """Return a console on stdout; a pipe or a file receives no escape codes."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal loses a ±, not the answer

    class OnStdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program decides what `forebay … | head` ends with

    out = OnStdout(highlight=False, soft_wrap=False, emoji=False, markup=False)
    out.width = min(out.width, _WIDEST)
    return out


def print_configuration(out: Console, made: Mapping[str, Any] | None) -> None:
    """Print the configuration in an answer, if it has one; that of older documents has no text."""
    if made is not None and "text" in made:
        text = f"\nConfiguration for {made.get('platform')}\n{made['text']}"
        out.print(text, end="", soft_wrap=True)


def show_table(out: Console, made: Table) -> None:
    """Print a whole table; it may be wider than the terminal, but truncates no number."""
    for column in made.columns:
        if column.no_wrap:
            texts = (str(column.header), *map(str, column.cells))
            column.min_width = max(cell_len(line) for text in texts for line in text.split("\n"))
    least = Measurement.get(out, out.options.update(max_width=1000), made).minimum
    if least > out.width:
        made.width = least
    out.print(made, crop=False)


def table(*columns: str, left: int = 1) -> Table:
    """Return a table without borders; the first ``left`` columns are words, the others numbers.

    Words wrap, numbers never do; print the table with `show_table`.
    """
    grid = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for place, name in enumerate(columns):
        words = place < left
        grid.add_column(
            name, justify="left" if words else "right", overflow="fold", no_wrap=not words
        )
    return grid


Cell = Callable[[ClassOutcome], str]


def completion_times(part: object, name: str) -> tuple[Quantiles | None, Quantiles | None]:
    """Return the times ``name``, such as "fct_s", and the lower bounds of those not known."""
    return getattr(part, name), getattr(part, f"{name.removesuffix('_s')}_least_s")


def completion(
    each: ClassOutcome, part: Callable[[Quantiles | None], Metric | None], name: str = "fct_s"
) -> str:
    """Return a part of a completion time in ms, or its lower bound: "≥ 900"."""
    return known_or_least(*completion_times(each, name), part)


def known_or_least(
    known: Quantiles | None,
    least: Quantiles | None,
    part: Callable[[Quantiles | None], Metric | None],
) -> str:
    """Return a part in ms, or its lower bound."""
    shown, bound = short(part(known), 1e3), short(part(least), 1e3)
    return shown if shown != NOT_MEASURED or bound == NOT_MEASURED else f"≥ {bound}"


_COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("flows", lambda kind: str(kind.flows) if kind.flows else NOT_MEASURED),
    ("goodput\nMbit/s", lambda kind: show(kind.goodput_bps, 1e-6)),
    ("loss\n%", lambda kind: show_significant(kind.loss_rate, 100)),
    ("wait\nmean, ms", lambda kind: short(mean(kind.queue_delay_s), 1e3)),
    ("wait\np99, ms", lambda kind: short(p99(kind.queue_delay_s), 1e3)),
    ("completion\nmean, ms", lambda kind: completion(kind, mean)),
    ("completion\np99, ms", lambda kind: completion(kind, p99)),
    ("request\nmean, ms", lambda kind: completion(kind, mean, "request_s")),
    ("request\np99, ms", lambda kind: completion(kind, p99, "request_s")),
    ("unfinished\n%", lambda kind: show_significant(kind.unfinished, 100)),
    ("Jain", lambda kind: show(kind.jain, 1, 2)),
)


def class_table(classes: Sequence[ClassOutcome]) -> Table:
    """Return a table of the classes, without columns that are empty for all classes."""
    columns = [(title, [cell(kind) for kind in classes]) for title, cell in _COLUMNS]
    columns = [
        (title, cells) for title, cells in columns if any(cell != NOT_MEASURED for cell in cells)
    ]
    grid = table("class", *(title for title, _ in columns))
    for at, kind in enumerate(classes):
        grid.add_row(called(kind), *(cells[at] for _, cells in columns))
        for name, part in (kind.controllers or {}).items():
            grid.add_row(f"  {name}", *_controller(part, (title for title, _ in columns)))
    return grid


def tells_of_classes(classes: Sequence[ClassOutcome]) -> bool:
    """Whether the classes have any value other than their number."""
    return any(cell(kind) != NOT_MEASURED for kind in classes for _, cell in _COLUMNS[1:])


def called(each: ClassOutcome) -> str:
    """Return a class's name, with its kind if the name does not begin with it."""
    return each.name if each.name.startswith(each.kind) else f"{each.name} ({each.kind})"


def _controller(part: ControllerOutcome, titles: Iterable[str]) -> list[str]:
    known = {
        "flows": str(part.flows),
        "goodput\nMbit/s": show(part.goodput_bps, 1e-6),
        "loss\n%": show_significant(part.loss_rate, 100),
        "Jain": show(part.jain, 1, 2),
    }
    return [known.get(title, "") for title in titles]


def assumed_lines(assumptions: Sequence[str]) -> list[str]:
    """Return what was assumed because nobody chose it, as one sentence."""
    return [f"Assumes {'; '.join(assumptions)}."] if assumptions else []


def shown_links(outcome: Outcome) -> dict[str, LinkOutcome]:
    """Return the links, with utilization as a lower bound if the law gives only that ("≥ 98.2")."""
    if "utilization" not in getattr(outcome.provenance, "lower_bounds", ()):
        return outcome.links
    return {name: _at_least(link) for name, link in outcome.links.items()}


def _at_least(link: LinkOutcome) -> LinkOutcome:
    used = link.utilization
    bound = None if used is None else used.within(used.value, None)
    return link.model_copy(update={"utilization": bound})


def sentence_case(note: str) -> str:
    """Return a remark as a sentence, with a capital letter and a full stop."""
    return note[:1].upper() + note[1:].rstrip(".") + "."


def sized(result: SizeResult, packets: int) -> str:
    """Return a size as the sized parameter: "72 packets", or the corresponding target or min."""
    if result.aqm is None:
        return count(packets, "packet")
    if result.aqm.parameter == "min":
        return f"a min of {with_prefix(max(packets, 2) * result.aqm.packet_bytes, 'B')}"
    return f"a target of {duration(packets * result.aqm.packet_s)}"


def size_name(result: SizeResult) -> str:
    """Return the sized parameter as the title of a column or an axis."""
    return result.of or ("buffer" if result.aqm is None else result.aqm.parameter)


def listed(words: Iterable[str]) -> str:
    """Return "a, b and c"; "" for nothing."""
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def target(goal: GoalResult | Relaxation, value: float) -> str:
    """Format a target in a readable unit."""
    factor, unit = scale(goal.unit)
    return f"{value * factor:.10g} {unit}"


def scale(unit: str) -> tuple[float, str]:
    """Return the factor to a readable unit, and its name."""
    return {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s")}.get(unit, (100.0, "%"))


_ALIKE = 0.01
"""Relative difference of two means below which they are said as one."""


def rate_lines(rates: Mapping[str, LinkRates]) -> list[str]:
    """Return a sentence for each link."""
    return [_line(name, rate) for name, rate in rates.items()]


def _line(name: str, rates: LinkRates) -> str:
    low, middle, high = (
        with_prefix(rate, "bit/s") for rate in (rates.p5_bps, rates.p50_bps, rates.p95_bps)
    )
    pauses = ""
    if rates.zero_share > 0.0:
        pauses = (
            f" It sends nothing for {plain(100 * rates.zero_share, 3)} % of the time, up to "
            f"{duration(rates.longest_zero_s)} at once."
        )
    return (
        f"The rate of {name} varies: {_means(rates)}; at most "
        f"{low} for 5 % of the time, {middle} for half of it and {high} for 95 %.{pauses}"
    )


def _means(rates: LinkRates) -> str:
    mean, seen = with_prefix(rates.mean_bps, "bit/s"), rates.window_bps
    if seen is None or abs(seen - rates.mean_bps) < _ALIKE * rates.mean_bps:
        return f"{mean} in the mean"
    return (
        f"sizes and loads refer to {mean}, utilization to the {with_prefix(seen, 'bit/s')} that "
        "the measured window has in the mean"
    )


def drain_lines(answer: SizeResult) -> list[str]:
    """Return how long the recommended buffer holds packets at a low rate, where that varies."""
    first = next(iter(answer.rates.values()), None)
    best = answer.recommended
    if first is None or best is None or not best.bytes or not first.p5_bps:
        return []
    took = [duration(8 * best.bytes / rate) for rate in (first.mean_bps, first.p5_bps)]
    mean = with_prefix(first.mean_bps, "bit/s")
    return [f"Full, that buffer holds {took[0]} at {mean}, and {took[1]} at the 5 % rate."]
