"""Shared by the artefacts: solutions of the four networks, and their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import forebay

SCENARIOS = Path(forebay.__file__).resolve().parent / "scenarios"
RULES = ("small", "traditional")


@cache
def solved(edge: str, rule: str, changes: Sequence[str] = ()) -> forebay.Outcome:
    """Solve one of the shipped networks, with changes in the notation of --set."""
    scenario = forebay.load(SCENARIOS / f"abilene-{edge}-edge-{rule}.toml", list(changes))
    return forebay.run(scenario, engine="network")


def readings(outcome: forebay.Outcome, link_class: str) -> dict[str, list[float]]:
    """Utilization and loss of every link of a class."""
    mine = [link for link in outcome.links.values() if link.link_class == link_class]
    return {
        "utilization": [link.utilization.value for link in mine if link.utilization],
        "loss": [link.loss_rate.value for link in mine if link.loss_rate],
    }


def mean(values: Sequence[float]) -> float:
    """Mean over links without weights, because the slides do not define theirs."""
    return sum(values) / len(values)


def numbers(edge: str, rule: str, changes: Sequence[str] = ()) -> dict[str, float]:
    """The numbers of slides 14 to 18, in their units."""
    outcome = solved(edge, rule, tuple(changes))
    core, whole = readings(outcome, "core"), outcome.network
    assert whole is not None, "the engine network has one"
    return {
        "delay": 1e3 * whole.mean_propagation_s,
        "utilization": mean(core["utilization"]),
        "largest": max(core["utilization"]),
        "loss": mean(core["loss"]),
        "throughput": 1e-6 * (whole.mean_throughput_bps or 0.0),
        "rtt": 1e3 * (whole.mean_rtt_s or 0.0),
    }


def by_hops(edge: str, rule: str, changes: Sequence[str] = ()) -> dict[int, float]:
    """Throughput of a connection by hops, Mbit/s (slide 19)."""
    whole = solved(edge, rule, tuple(changes)).network
    assert whole is not None, "the engine network has one"
    return {each.hops: 1e-6 * (each.throughput_bps or 0.0) for each in whole.by_hops}
