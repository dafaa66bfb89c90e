"""The report of a measurement: estimates with intervals, and refused estimates."""

from collections.abc import Iterator, Mapping
from typing import Any

from forebay.report.tables import console, plain, sentence_case, show_table, table
from forebay.words import format_number


def print_measurement(document: Mapping[str, Any]) -> None:
    """Print the document of ``measure --json`` as text."""
    out = console()
    out.print(", ".join(document["sources"]), style="bold")
    out.print(headline(document))
    out.print(document["flows_mean"] + ".")
    out.print()
    grid = table("estimate", "value", "95 % interval", "of")
    for name, estimate in document["estimates"].items():
        for row in rows(name, estimate):
            grid.add_row(*row)
    show_table(out, grid)
    for title, lines in remarks(document):
        if lines:
            out.print()
            out.print(title, style="bold")
            for line in lines:
                out.print(f"  {line}")


def headline(document: Mapping[str, Any]) -> str:
    """Return how many packets in how long; what follows from an assumed size has three digits."""
    packets, size = document["packets"], document.get("assumed_bytes")
    if size is None:
        return f"{packets:,} packets in {document['seconds']:.3f} s"
    digits = max(len(str(packets)) - 3, 0)
    return f"About {round(packets, -digits):,} packets, of {size} B, in {document['seconds']:.3f} s"


def remarks(document: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return titles with lines: known errors of estimates, refused ones, and notes."""
    estimates = document["estimates"].items()
    biases = [f"{n}: {e['bias']}" for n, e in estimates if isinstance(e, dict) and e.get("bias")]
    refused = [f"{one['name']}: {one['why']}" for one in document["refused"]]
    return [
        ("What makes them wrong", biases),
        ("Refused: the records do not contain it", refused),
        ("To know", document["notes"]),
    ]


def rows(name: str, estimate: Any) -> Iterator[tuple[str, str, str, str]]:
    """Return an estimate's name, value, interval and basis; one row for each row of a table."""
    if not isinstance(estimate, dict):
        if isinstance(estimate, str) and not name.endswith(".bias"):
            yield name, estimate, "", ""
        return
    if "value" in estimate:
        low, high = estimate["low"], estimate["high"]
        interval = "" if low is None or high is None else f"{plain(low)} to {plain(high)}"
        yield name, plain(estimate["value"]), interval, str(estimate["n"])
        return
    for key, one in estimate.items():
        yield from rows(f"{name}.{key}", one)


_STYLES = {"as answered": "bold green", "not tested": "bold"}


def print_judgement(document: Mapping[str, Any]) -> None:
    """Print the document of ``measure --counters --answer --json`` as text."""
    out, expected = console(), document["expected"]
    verdict, packets = document["verdict"], expected["packets"]
    out.print(f"{packets} packets: {verdict}", style=_STYLES.get(verdict, "bold red"))
    out.print(sentence_case(document["why"]))
    out.print(f"What to do: {document['next_step']}.")
    out.print()
    grid = table("hour", "used, %", "lost, %", "drops", "wait, ms", "verdict")
    for hour in document["hours"]:
        grid.add_row(
            hour["when"],
            f"{100 * hour['utilization']:.1f}",
            _number(hour["loss_rate"], 100),
            str(hour["drops"]),
            _number(hour["wait_s"], 1e3),
            hour["verdict"],
        )
    show_table(out, grid)
    out.print()
    out.print("Thresholds to watch", style="bold")
    for line in document["alarms"]:
        out.print(f"  {line}")


def _number(value: float | None, factor: float) -> str:
    return "–" if value is None else format_number(factor * value, ".3g")
