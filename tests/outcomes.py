"""Answers made by hand: what a test does not name was not measured."""

from typing import Any

from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Provenance, Quantiles


def metric(value: float, low: float | None = None, high: float | None = None, n: int = 5) -> Metric:
    return Metric(value=value, low=low, high=high, n=n)


def around(value: float, half: float = 0.0, n: int = 5) -> Metric:
    """Return a metric with as much on either side; without ``half`` it is exact."""
    return metric(value, value - half, value + half, n)


def quantiles(**known: Metric | None) -> Quantiles:
    return Quantiles(**dict.fromkeys(Quantiles.model_fields) | known)


def link_of(**known: Any) -> LinkOutcome:
    unknown: dict[str, Any] = dict.fromkeys(
        ("utilization", "loss_rate", "queue_packets", "queue_delay_s")
    )
    return LinkOutcome(**unknown | {"buffer_packets": 1, "bdp_packets": 1.0} | known)


def class_of(**known: Any) -> ClassOutcome:
    unknown: dict[str, Any] = dict.fromkeys(
        ("throughput_bps", "goodput_bps", "jain", "rtt_s", "loss_rate", "timeouts", "fct_s")
    )
    return ClassOutcome(**unknown | {"kind": "long", "flows": 1} | known)


def outcome_of(
    link: LinkOutcome, *classes: ClassOutcome, seeds: tuple[int, ...] = (1, 2), **more: Any
) -> Outcome:
    """Return an answer of one link, unless ``links`` has several by name."""
    origin = Provenance(version="0", seeds=list(seeds), scenario_sha256="", wall_s=0.0)
    made: dict[str, Any] = {
        "scenario": {}, "engine": "known", "links": {"bottleneck": link},
        "classes": list(classes), "broken_assumptions": [], "provenance": origin,
    }  # fmt: skip
    return Outcome(**made | more)
