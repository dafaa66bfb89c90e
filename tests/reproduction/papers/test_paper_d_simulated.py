"""Paper D's simulated figures: quick runs hold what whole ones hold, buffers are the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forebay.effort import Effort
from forebay.reproduction import find
from forebay.reproduction.claims import read_claims
from forebay.reproduction.papers.yang_2013 import mix


def folder(name: str) -> Path:
    found = find(f"D.{name}").folder
    assert found is not None
    return found


RED = {
    "fig1-simulated": {"distance-200"},
    "fig9": {"utilization-67", "utilization-90"},
    "fig10": {"deviation-28", "deviation-67", "deviation-90"},
    "fig11": {"utilization", "drops-28"},
    "fig12": {"spare-28", "spare-67", "spare-90"},
}
NEAR = {
    "ratio-67",
    "ratio-90",
    "nearer-50",
    "nearer-200",
}  # on the edge of their bands: a quick run may see either side


def load(name: str) -> Any:
    return find(f"D.{name}").load()


@pytest.mark.parametrize("name", RED)
def test_quick_holds_what_the_whole_holds(name: str) -> None:
    made = load(name).reproduce(Effort(seeds=1, jobs=1), quick=True)
    names = {claim.says: claim.name for claim in read_claims(folder(name))}
    out = {names[row[0]] for row, good in zip(made.rows, made.verdicts, strict=True) if not good}
    assert made.artefact == f"yang-2013/{name}" and made.picture is not None
    assert out - NEAR == RED[name], made.reasons


def test_buffers_are_those_of_the_paper() -> None:
    """Inequality 7 as printed is 1.9 % of BDP; section VIII: inequality 14 asks for 45 % more."""
    for rtt_ms in mix.RTTS_MS:
        bdp = 622e6 * rtt_ms / 1e3 / 12_000
        small, large = mix.buffer_of(bdp, False), mix.buffer_of(bdp, True)
        assert small / bdp == pytest.approx(0.0193, abs=0.0005)
        assert large / small == pytest.approx(1.4545, abs=0.5 / small + 0.01)
    assert sum(mix.FLOWS.values()) == 198


def test_inequality_10_by_hand() -> None:
    by_hand = (2.05 * mix.spread() * 1500 + 1500) * 0.99 - 1451
    assert mix.least_buffer(1500, 1451) == pytest.approx(by_hand)
