"""Two designs of a network beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.report.tables import NOT_MEASURED, console, show_table, table, with_prefix

if TYPE_CHECKING:
    from rich.console import Console


def print_designs(names: tuple[str, str], demands: Any) -> None:
    """Print a table for each demand of ``network --against --json``."""
    out = console()
    for demand in demands:
        _print_demand(out, names, demand)


def _print_demand(out: Console, names: tuple[str, str], demand: dict[str, Any]) -> None:
    grown = "" if demand["growth"] == 1 else f", demand x {demand['growth']:g}"
    out.print(f"{names[0]} beside {names[1]}{grown}", style="bold")
    for line in _summary(names, demand):
        out.print(line)
    made = table(
        "link down", *(f"{name}: {what}" for name in names for what in ("worst link", "offered, %",
                                                                       "loss, %", "loses most")),
    )  # fmt: skip
    for state in demand["states"]:
        cells = [cell for side in state["designs"] for cell in _cells(side)]
        made.add_row(state["link"] or "none", *cells)
    show_table(out, made)
    out.print()


def _summary(names: tuple[str, str], demand: dict[str, Any]) -> list[str]:
    lines = []
    for place, name in enumerate(names):
        sides = [state["designs"][place] for state in demand["states"]]
        failures = [side for side in sides[1:] if side is not None]
        parts = sum(side["error"] is not None for side in failures)
        above = demand["overloaded_failures"][place] - parts
        said = f"{name}: of {len(failures)} single failures {above} overload a link"
        lines.append(said + (f", {parts} have no answer." if parts else "."))
    first, second = demand["demand_bps"]
    if first is not None and second is not None and abs(first - second) > 1e-6 * first:
        both = f"{with_prefix(first, 'bit/s')} and {with_prefix(second, 'bit/s')}"
        lines.append(f"Their demands differ: {both}.")
    return lines


def _cells(side: dict[str, Any] | None) -> Sequence[str]:
    if side is None:
        return ("not in it", "", "", "")
    if side["error"] is not None:
        return (side["error"], "", "", "")
    offered = side["offered_load"]
    load = NOT_MEASURED if offered is None else f"{100 * offered:.4g}"
    return (side["worst"], load, f"{100 * side['loss_rate']:.4g}", side["sufferers"])
