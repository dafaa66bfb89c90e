"""Paper A's proof folders that need no run: they agree, draw, and turn red where a number moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forebay.effort import Effort
from forebay.laws import bursts, utilization
from forebay.reproduction import Reproduction, find
from forebay.reproduction.page import draw_reproduction


def folder(name: str) -> Path:
    found = find(f"A.{name}").folder
    assert found is not None
    return found


ARTEFACTS = ("eq6", "fig12-model")


def load(name: str) -> Any:
    return find(f"A.{name}").load()


@pytest.fixture(scope="module")
def made() -> dict[str, Reproduction]:
    return {name: load(name).reproduce(Effort(seeds=1, jobs=1)) for name in ARTEFACTS}


@pytest.mark.parametrize("name", ARTEFACTS)
def test_every_row_agrees_and_draws(name, made, tmp_path):
    found = made[name]
    assert found.artefact == f"appenzeller-2004/{name}"
    assert found.agrees, found.reasons
    draw_reproduction(found, tmp_path / "out.svg")
    assert (tmp_path / "out.svg").stat().st_size > 5_000
    assert (folder(name) / "README.md").read_text().startswith("# Appenzeller et al. 2004")


def cells(found: Reproduction, label: Any) -> dict[str, Any]:
    row = next(row for row in found.rows if row[0] == label)
    return dict(zip(found.columns, row, strict=True))


def test_the_table_below_eq_6_is_wrong_at_one_and_a_half(made: dict[str, Reproduction]) -> None:
    """§3.2: 99.99988 % is printed, eq. 6 gives 99.98767 %."""
    row = cells(made["eq6"], 1.5)
    assert (row["printed %"], row["print"]) == ("99.99988", "wrong")
    assert row["ours"] == pytest.approx(123.3, abs=0.1) == row["right"]
    assert [each[-1] for each in made["eq6"].rows] == ["right", "wrong", "right"]


def test_figure_12_orders_its_lengths_as_the_text_does(made: dict[str, Reproduction]) -> None:
    """§4: 14 packets queue longer than 16; exact and whole lie above the second order."""
    short, longer = (cells(made["fig12-model"], length) for length in (14, 16))
    assert short["ours (second order)"] > longer["ours (second order)"]
    assert (short["whole"], short["exact"]) == (pytest.approx(50.17, abs=0.01), 50)


def test_a_formula_that_moves_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    true = utilization.utilization
    monkeypatch.setattr(utilization, "utilization", lambda *given: 0.999 * true(*given))
    assert not any(load("eq6").reproduce().verdicts)


def test_the_paper_s_remainder_would_be_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bursts 2, 4, 8, 4 for 16 packets, as printed, ask for another buffer."""
    true = bursts.Bursts.of_lengths

    def printed(lengths: Any, *rest: Any) -> bursts.Bursts:
        sixteen = lengths.tolist() == [16]
        return bursts.Bursts.given([2, 4, 8, 4]) if sixteen else true(lengths, *rest)

    monkeypatch.setattr(bursts.Bursts, "of_lengths", printed)
    found = load("fig12-model").reproduce()
    assert [row[0] for row, ok in zip(found.rows, found.verdicts, strict=True) if not ok] == [16]
