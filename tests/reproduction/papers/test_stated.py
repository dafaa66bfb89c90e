"""What paper D states and a run can show: which rows hold, and which do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from forebay.effort import Effort
from forebay.reproduction import find
from forebay.reproduction.claims import read_claims
from forebay.reproduction.page import draw_reproduction


def folder(name: str) -> Path:
    found = find(name).folder
    assert found is not None
    return found


RED = {
    "D/table3-simulated": {"mean-bic", "mean-cubic-beta-0.8", "mean-cubic-beta-0.7"},
    "D/delay": set(),
}


@pytest.mark.parametrize("name", RED)
def test_the_rows_that_are_out(name: str) -> None:
    made = find(name).load().reproduce(Effort(seeds=1, jobs=1), quick=True)
    claims = read_claims(folder(name))
    out = {claim.name for claim, good in zip(claims, made.verdicts, strict=True) if not good}
    assert out == RED[name], made.reasons
    assert all(claim.miss for claim in claims if claim.name in out)


def test_no_empty_axes_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five panels in two columns leave a sixth place: nothing stands there."""
    seen: list[Figure] = []
    monkeypatch.setattr(
        "forebay.report.figures.picture.save", lambda figure, path: seen.append(figure)
    )
    made = find("D.table3-simulated").load().reproduce(Effort(seeds=1, jobs=1), quick=True)
    draw_reproduction(made, tmp_path / "a.svg")
    assert [axes.axison for axes in seen[0].axes] == [True] * 5 + [False]
