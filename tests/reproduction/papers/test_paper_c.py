"""Paper C: every statement has a number of ours, and the published values stand as printed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.cases import cases

from forebay.reproduction import find


def folder(name: str) -> Path:
    found = find(f"C.{name}").folder
    assert found is not None
    return found


PRINTED = {"core-small": 0.638, "core-traditional": 0.968, "loss-small": 0.001973,
           "loss-traditional": 0.004195, "throughput-small": 9.29, "throughput-traditional": 9.23,
           "rtt-small": 16.72, "rtt-traditional": 23.93, "delay": 4.829}  # fmt: skip


def test_the_fast_edge_is_held_against_what_is_printed():
    """Slides 16 to 18."""
    claims = tomllib.loads((folder("fast-edge") / "claims.toml").read_text())["claim"]
    assert {c["name"]: c["published"] for c in claims if c["name"] in PRINTED} == PRINTED


@pytest.mark.parametrize("name", cases(["fast-edge", "hops"], "hops".__eq__))
def test_an_artefact_judges_every_claim(name):
    made = find(f"C.{name}").load().reproduce()
    claims = tomllib.loads((folder(name) / "claims.toml").read_text())["claim"]
    assert len(made.rows) == len(claims)
    for claim, reason in zip(claims, made.reasons, strict=True):
        assert "cause not known" not in reason, claim["name"]
