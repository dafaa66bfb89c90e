"""A window that is simulated in a given number of packets."""

from __future__ import annotations

import forebay


def wire_s(scenario: forebay.Scenario, packets: float) -> float:
    """Return how long so many of its packets take on the bottleneck, in seconds."""
    return packets * 8 * float(scenario.packet) / float(scenario.link.capacity)


def shorter(
    scenario: forebay.Scenario, packets: float, most_warmup_s: float | None = None
) -> forebay.Scenario | None:
    """Return the scenario with a run of so many packets, half of it warm-up; None if it has less.

    ``most_warmup_s`` is the longest warm-up.
    """
    measure, seconds = scenario.measure, wire_s(scenario, packets)
    if float(measure.warmup + measure.duration) <= seconds:
        return None
    warmup_s = seconds / 2 if most_warmup_s is None else min(most_warmup_s, seconds / 2)
    window = {"warmup": f"{warmup_s:.6f} s", "duration": f"{seconds - warmup_s:.6f} s"}
    return scenario.replace({"measure": window})
