"""What sizes, goals and metrics of a sizing are called."""

from __future__ import annotations

from forebay.outcome import SizeResult
from forebay.report.numbers import count, duration, with_prefix

_METRICS = {
    "loss_rate": "loss",
    "queue_delay_mean": "mean queueing delay",
    "queue_delay_p99": "p99 of the queueing delay",
    "fct_mean": "mean completion time",
    "fct_p99": "p99 of the completion time",
    "fct_increase": "increase of the completion time over no drops",
    "realtime_loss": "loss of the real-time classes",
}
"""Metrics of goals in words, where the name alone does not say it."""


def sized(result: SizeResult, packets: int) -> str:
    """Return a size as what was sized: "72 packets", or the target or min it stands for."""
    if result.aqm is None:
        return count(packets, "packet")
    if result.aqm.parameter == "min":
        return f"a min of {with_prefix(max(packets, 2) * result.aqm.packet_bytes, 'B')}"
    return f"a target of {duration(packets * result.aqm.packet_s)}"


def size_name(result: SizeResult) -> str:
    """Return what is sized, as a column or an axis is called."""
    return "buffer" if result.aqm is None else result.aqm.parameter


def metric_words(result: SizeResult, name: str) -> str:
    """Return a goal's metric in words, a class by its name."""
    of_class = _of_class(result, name)
    if of_class is not None:
        metric, class_name = of_class
        return f"{_METRICS.get(metric, metric)} of {class_name}"
    title = next((goal.title for goal in result.goals if goal.name == name), "")
    return _METRICS.get(name) or title or name.replace("_", " ")


def goal_name(result: SizeResult, name: str) -> str:
    """Return a goal as a scenario writes it, a class by its name: "fct_p99 of web"."""
    of_class = _of_class(result, name)
    return name if of_class is None else " of ".join(of_class)


def _of_class(result: SizeResult, name: str) -> tuple[str, str] | None:
    """Split "traffic.0.fct_p99" into "fct_p99" and the class's name; None for other goals."""
    parts, names = name.split("."), result.class_names
    if parts[0] != "traffic" or len(parts) != 3 or int(parts[1]) >= len(names):
        return None
    return parts[2], names[int(parts[1])]
