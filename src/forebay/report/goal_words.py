"""Goals, sizes and their targets in the words of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from forebay.outcome import (
    GoalResult,
    Relaxation,
    SizeResult,
)
from forebay.report.tables import (
    count,
    duration,
    with_prefix,
)

if TYPE_CHECKING:
    pass


_METRICS = {
    "loss_rate": "loss",
    "queue_delay_mean": "mean queueing delay",
    "queue_delay_p99": "p99 of the queueing delay",
    "fct_mean": "mean completion time",
    "fct_p99": "p99 of the completion time",
    "fct_increase": "increase of the completion time over no drops",
    "request_mean": "mean time of a whole request",
    "request_p99": "p99 of the time of a whole request",
    "realtime_loss": "loss of the real-time classes",
}
"""Metrics of goals in words, where the name alone is unclear."""


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
    return "buffer" if result.aqm is None else result.aqm.parameter


def metric_words(result: SizeResult, name: str) -> str:
    """Return a goal's metric in words, with a class's name."""
    of_class = _of_class(result, name)
    if of_class is not None:
        metric, class_name = of_class
        return f"{_METRICS.get(metric, metric)} of {class_name}"
    title = next((goal.title for goal in result.goals if goal.name == name), "")
    return _METRICS.get(name) or title or name.replace("_", " ")


def goal_name(result: SizeResult, name: str) -> str:
    """Return a goal as in a scenario, with a class's name: "fct_p99 of web"."""
    of_class = _of_class(result, name)
    return name if of_class is None else " of ".join(of_class)


def _of_class(result: SizeResult, name: str) -> tuple[str, str] | None:
    """Split "traffic.0.fct_p99" into "fct_p99" and the class's name; None for other goals."""
    parts, names = name.split("."), result.class_names
    if parts[0] != "traffic" or len(parts) != 3 or int(parts[1]) >= len(names):
        return None
    return parts[2], names[int(parts[1])]


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
