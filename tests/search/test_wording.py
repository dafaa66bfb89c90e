"""Sentences that say what an engine saw."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from tests.search.asking import size


def test_two_classes_each_have_their_share_of_what_was_sent(known: SimpleNamespace) -> None:
    engine = known.Engine(
        {
            "utilization": known.saturating(10),
            "loss_rate": lambda b: 0.005,
            "traffic.0.throughput": lambda b: 75e6,
            "traffic.1.throughput": lambda b: 25e6,
        }
    )
    groups = (known.group("long", 40), known.group("udp", 1))
    scenario = replace(known.asked(utilization=0.9), traffic=groups)
    found = size(scenario, engine, seeds=[1], max_seeds=1)
    assert "of what was sent, traffic.0 75 %, traffic.1 25 %" in found.evidence
    alone = replace(scenario, traffic=groups[:1])
    said = size(alone, engine, seeds=[1], max_seeds=1).evidence
    assert said and not any("traffic.0" in line for line in said)
