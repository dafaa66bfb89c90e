"""Shared by the artefacts: solutions of the four networks, and their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import forebay

SCENARIOS = Path(forebay.__file__).resolve().parent / "scenarios"
RULES = ("small", "traditional")
_FOUND = ("core_links", "core_diameter", "tail", "seed", "sigma_factor")
"""Fields of the shipped files that were deduced, fitted or drawn."""


SAYS = (
    "σ of the queue was fitted to the fast edge. On the slow one a core link with a small buffer "
    "then loses 1.9 % at any load, half of the tail beyond 3√3/2.5 deviations, which slide 15 "
    "rules out; with σ as published slide 15 holds there and the fast edge does not."
)


@cache
def solved(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> forebay.Outcome:
    """Solve one of the shipped networks, with changes in the notation of --set.

    Parameters
    ----------
    own_core : on Abilene's own 14 links, with even hosts, instead of the core found.
    """
    path = SCENARIOS / f"abilene-{edge}-edge-{rule}.toml"
    lines = path.read_text("utf-8").splitlines()
    if own_core:
        lines = [line for line in lines if not line.startswith(_FOUND)]
    return forebay.run(
        forebay.scenario.loads("\n".join(lines), overrides=list(changes)), engine="network"
    )


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


def numbers(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> dict[str, float]:
    """The numbers of slides 14 to 18, in their units."""
    outcome = solved(edge, rule, tuple(changes), own_core=own_core)
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


def by_hops(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> dict[int, float]:
    """Throughput of a connection by hops, Mbit/s (slide 19)."""
    whole = solved(edge, rule, tuple(changes), own_core=own_core).network
    assert whole is not None, "the engine network has one"
    return {each.hops: 1e-6 * (each.throughput_bps or 0.0) for each in whole.by_hops}
