"""Answers of the public API as the JSON that the page draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import forebay
from forebay.report.size import brief, explained, sentence

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome, Metric

BUFFERS = 8
_CAKE_TARGETS = 20
"""Targets of cake in its rtt: this package sees public names alone, not the catalogue."""
_SPAN = 8.0
"""The curve goes from an eighth of the laws' guess to eight times it."""


def laws_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return what published laws say, the sizes of the curve, and the question's exports."""
    answers = forebay.laws.for_scenario(scenario)
    regime = forebay.laws.regime_of(scenario)
    marks = [
        {
            "law": each.law,
            "packets": each.packets_whole,
            "holds": each.assumptions_hold,
            "broken": list(each.broken_assumptions),
            "source": each.source,
        }
        for each in answers
        if each.packets is not None
    ]
    return {
        "laws": marks,
        "bdp": scenario.bdp_packets,
        "buffer": scenario.buffer_packets,
        "packet_s": 8 * float(scenario.packet) / float(scenario.link.capacity),
        "packet_bytes": int(scenario.packet),
        "sizes": sizes(scenario, answers),
        "regime": None if regime is None else {"name": regime.regime, "why": regime.why},
    }


def sizes(scenario: forebay.Scenario, answers: Sequence[forebay.laws.LawAnswer]) -> list[int]:
    """Return the buffers of the curve, packets: geometric about the laws' guess."""
    known = sorted(a.packets for a in answers if a.packets and a.assumptions_hold)
    guess = scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))
    middle = max(1.0, known[(len(known) - 1) // 2] if known else guess)
    low = max(1.0, middle / _SPAN)
    high = max(middle * _SPAN, low * 2 * BUFFERS)
    ratio = (high / low) ** (1 / (BUFFERS - 1))
    return sorted({round(low * ratio**index) for index in range(BUFFERS)})


def is_of(outcome: forebay.Outcome, scenario: forebay.Scenario) -> bool:
    """Return whether a run is of the question's own link, not of a smaller one of its kind."""
    asked = scenario.to_dict()
    parts = ("link", "traffic")
    return all(outcome.scenario[part] == asked[part] for part in parts)


def point_of(outcome: forebay.Outcome) -> dict[str, Any]:
    """Return the curves' values of one run."""
    link = outcome.links["bottleneck"]
    aim = _aim_packets(outcome.scenario)
    packets = link.buffer_packets if aim is None else aim
    return {**point(packets, link), "replications": len(outcome.provenance.seeds)}


def _aim_packets(asked: dict[str, Any]) -> int | None:
    """Return what an AQM aims at, in packets at line rate; None for a limit.

    A search varies the target of codel, fq_codel and pie, a twentieth of cake's rtt, RED's min.
    """
    scenario = forebay.Scenario.from_dict(asked, files=False)
    queue, packet = scenario.queue, float(scenario.packet)
    packet_s = 8 * packet / float(scenario.link.capacity)
    if asked["queue"].get("target") is not None:
        return round(float(queue.target or 0.0) / packet_s)
    if asked["queue"].get("rtt") is not None:
        return round(float(queue.rtt or 0.0) / _CAKE_TARGETS / packet_s)
    if asked["queue"].get("min") is not None:
        return round(float(queue.min or 0.0) / packet)
    return None


def point(packets: int, link: LinkOutcome) -> dict[str, Any]:
    """Return the curves' values at one buffer."""
    delay = link.queue_delay_s
    return {
        "packets": packets,
        "utilization": _metric(link.utilization),
        "loss_rate": _metric(link.loss_rate),
        "queue_delay_mean": _metric(None if delay is None else delay.mean),
        "queue_delay_p99": _metric(None if delay is None else delay.p99),
    }


def _metric(metric: Metric | None) -> dict[str, float | None] | None:
    if metric is None:
        return None
    return {"value": metric.value, "low": metric.low, "high": metric.high}


def sized(found: forebay.SizeResult) -> dict[str, Any]:
    """Return a sizing: its two sizes, its region, its sentences, and its curve."""
    best, least = found.recommended, found.buffer
    return {
        "recommended": None if best is None else best.model_dump(mode="json"),
        "least": None if least is None else least.model_dump(mode="json"),
        "guess": least is not None and least.is_guess,
        "status": found.exit_status,
        "headline": sentence(found),
        "sentences": _sentences(found),
        "assumptions": list(found.assumptions),
        "binding": list(found.binding),
        "region": [each.model_dump(mode="json") for each in found.region],
        "goals": [each.model_dump(mode="json") for each in found.goals],
        "relaxations": [each.model_dump(mode="json") for each in found.relaxations],
        "scaled": found.scaled is not None,
        "aims": found.aqm is not None,
        "queue": _aimed(found),
        "curve": [point(each.packets, each.link) for each in found.curve],
        "document": found.model_dump_json(by_alias=True),
    }


def _aimed(found: forebay.SizeResult) -> dict[str, str]:
    """Return what a question's queue has with the recommended aim of an AQM."""
    aqm = found.aqm
    if aqm is None or found.recommended is None:
        return {}
    queue = {"size": f"{aqm.limit_packets} packets"}
    if aqm.parameter == "min":
        return {**queue, "min": f"{aqm.min_bytes} B", "max": f"{aqm.max_bytes} B"}
    if aqm.discipline == "cake":  # its target follows from its rtt
        return {**queue, "rtt": f"{aqm.interval_s or 0.0:.9f} s"}
    return {**queue, "target": f"{aqm.target_s:.9f} s"}


def _sentences(found: forebay.SizeResult) -> list[str]:
    return [*brief(found)[2:], *explained(found)]
