"""The table of many ports' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.report.tables import NOT_MEASURED, console, show_table, table, with_prefix

if TYPE_CHECKING:
    from forebay.outcome import SizeResult


Row = tuple[str, str, "SizeResult | None", "str | None", "str | None"]


def print_ports(rows: Sequence[Row]) -> None:
    """Print ports as (name, rate, answer, error, note), in this order."""
    out = console()
    made = table("port", "rate", "packets", "bytes", "ms", "least between", "")
    for name, rate, answer, error, note in rows:
        made.add_row(name, rate, *_size(answer), error or _state(answer) or note or "")
    show_table(out, made)


def _size(answer: SizeResult | None) -> tuple[str, str, str, str]:
    least = None if answer is None else answer.buffer
    between = NOT_MEASURED if least is None else f"{least.low} to {least.high}"
    if answer is None or answer.recommended is None:
        return NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, between
    found = answer.recommended
    return (
        str(found.packets),
        with_prefix(found.bytes, "B"),
        f"{1e3 * found.seconds:.4g}",
        between,
    )


def _state(answer: SizeResult | None) -> str:
    return "" if answer is None or answer.recommended is not None else (answer.reason or "")
