"""The report of a size that was judged by counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forebay.report.tables import console, show_table, table

_STYLES = {"as answered": "bold green", "not tested": "bold"}


def print_judgement(document: Mapping[str, Any]) -> None:
    """Print the document of ``measure --counters --answer --json`` as text."""
    out, expected = console(), document["expected"]
    verdict, packets = document["verdict"], expected["packets"]
    out.print(f"{packets} packets: {verdict}", style=_STYLES.get(verdict, "bold red"))
    out.print(f"{_sentence(document['why'])}")
    out.print(f"What to do: {document['next_step']}.")
    out.print()
    made = table("hour", "used, %", "lost, %", "drops", "wait, ms", "verdict")
    for each in document["hours"]:
        made.add_row(
            each["when"],
            f"{100 * each['utilization']:.1f}",
            _number(each["loss_rate"], 100),
            str(each["drops"]),
            _number(each["wait_s"], 1e3),
            each["verdict"],
        )
    show_table(out, made)
    out.print()
    out.print("Thresholds to watch", style="bold")
    for line in document["alarms"]:
        out.print(f"  {line}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _number(value: float | None, factor: float) -> str:
    return "–" if value is None else f"{factor * value:.3g}"
