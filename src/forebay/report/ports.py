"""The table of many ports' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.report.tables import NOT_MEASURED, console, plain, show_table, table, with_prefix

if TYPE_CHECKING:
    from forebay.outcome import SizeResult


Row = tuple[str, str, "SizeResult | None", "str | None", "str | None"]


_MARK = "*"


def print_ports(rows: Sequence[Row]) -> None:
    """Print ports as (name, rate, answer, error, note), in this order.

    A mark stands at a port of which something is said below the table.
    """
    out = console()
    made = table("port", "rate", "packets", "bytes", "used %", "lost %", "least between", "")
    remarks: dict[str, list[str]] = {}
    for name, rate, answer, error, note in rows:
        lines = (error or _state(answer), note, _sized(answer), _why(answer), _assumed(answer))
        said = [each for each in lines if each]
        made.add_row(name, rate, *_size(answer), _MARK if said else "")
        for each in said:
            remarks.setdefault(each, []).append(name)
    show_table(out, made)
    for text, names in remarks.items():
        out.print(f"{_MARK} {', '.join(names)}: {text}", soft_wrap=True)


def _why(answer: SizeResult | None) -> str:
    """Return why a size outside the least's interval is recommended; "" if it is inside."""
    if answer is None or answer.recommended is None or answer.buffer is None:
        return ""
    if answer.buffer.low <= answer.recommended.packets <= answer.buffer.high:
        return ""
    return "; ".join(answer.recommended.why)


def _sized(answer: SizeResult | None) -> str:
    """Return what the packets are of, where they are not those of a buffer."""
    aqm = None if answer is None or answer.recommended is None else answer.aqm
    if aqm is None:
        return ""
    return (
        f"the {aqm.parameter} of {aqm.discipline}, at line rate, and no buffer; limit "
        f"{aqm.limit_packets} packets as a guard"
    )


def _assumed(answer: SizeResult | None) -> str:
    """Return what nobody wrote and moves the answer."""
    if answer is None or not answer.assumptions:
        return ""
    return f"assumed: {'; '.join(answer.assumptions)}"


def _size(answer: SizeResult | None) -> tuple[str, ...]:
    least = None if answer is None else answer.buffer
    between = NOT_MEASURED if least is None else f"{least.low} to {least.high}"
    if answer is None or answer.recommended is None:
        return (*[NOT_MEASURED] * 4, between)
    found = answer.recommended
    here = next((each for each in answer.price if each.why == "recommended"), None)
    used, lost = (None, None) if here is None else (here.utilization, here.loss_rate)
    shares = (NOT_MEASURED if m is None else plain(100 * m.value) for m in (used, lost))
    return (str(found.packets), with_prefix(found.bytes, "B"), *shares, between)


def _state(answer: SizeResult | None) -> str:
    return "" if answer is None or answer.recommended is not None else (answer.reason or "")
