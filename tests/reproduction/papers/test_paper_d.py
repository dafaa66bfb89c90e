"""Paper D's proof folders: they run, agree, draw, and turn red where a number moves."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases

from forebay.effort import Effort
from forebay.laws import heterogeneous
from forebay.reproduction import Reproduction, find
from forebay.reproduction.page import draw_reproduction


def folder(name: str) -> Path:
    found = find(f"D.{name}").folder
    assert found is not None
    return found


ARTEFACTS = ("table2", "table3", "text", "fig1", "fig4", "fig5", "fig6", "fig7")
PROTOCOLS = ("reno", "bic", "cubic_beta_0_8", "cubic_beta_0_7", "ctcp")


def load(name: str) -> Any:
    return find(f"D.{name}").load()


@pytest.fixture(scope="module")
def made() -> dict[str, Reproduction]:
    return {name: load(name).reproduce(Effort(seeds=1, jobs=1)) for name in ARTEFACTS}


@pytest.mark.parametrize("name", ARTEFACTS)
def test_every_row_agrees(name: str, made: dict[str, Reproduction]) -> None:
    found = made[name]
    assert found.artefact == f"yang-2013/{name}"
    assert found.agrees, found.reasons
    assert (folder(name) / "README.md").read_text().startswith("# Yang et al. 2013")


@pytest.mark.parametrize("name", cases(ARTEFACTS, ("table3", "fig4").__contains__))
def test_every_artefact_draws(name: str, made: dict[str, Reproduction], tmp_path: Path) -> None:
    path = tmp_path / f"{name}.svg"
    draw_reproduction(made[name], path)
    assert path.stat().st_size > 5_000


def cells(found: Reproduction, label: str) -> dict[str, object]:
    row = next(row for row in found.rows if row[0] == label)
    return dict(zip(found.columns, row, strict=True))


def test_print_and_right_stand_side_by_side(made: dict[str, Reproduction]) -> None:
    assert cells(made["fig5"], "RENO") == {
        "protocol": "RENO", "printed": 1526, "ours": 1526, "right": 1965,
    }  # fmt: skip
    assert cells(made["fig5"], "BIC")["ours"] == 24
    assert cells(made["table3"], "BIC")["print"] == "wrong"
    assert cells(made["table3"], "RENO")["print"] == "right"
    assert [row[-1] for row in made["table2"].rows] == ["right", "right", "wrong", "wrong", "right"]


def test_published_values_are_the_papers() -> None:
    """Spot checks against Table III and sections V, VII, VIII."""
    table = tomllib.loads((folder("table3") / "published.toml").read_text())["rows"]
    assert [row["mean"] for row in table] == [0.75, 0.85, 0.95, 0.925, 0.73]
    assert [row["deviation"] for row in table][1:] == [0.0241, 0.06, 0.09, 0.19]
    text = tomllib.loads((folder("text") / "published.toml").read_text())
    assert sum(text["mix"].values()) == 198
    assert [each["printed"] for each in text["number"]] == [1526, 24, 24, 87, 0, 45.45, 0.24]


def test_a_number_that_moves_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a deviation of BIC's that is 10 % off, its rows leave their band and say by how much."""
    true = heterogeneous.characteristic_value

    def off(protocol: str, *rest: object, **options: bool) -> object:
        return true(protocol, **options) * (1.1 if protocol == "bic" else 1.0)

    monkeypatch.setattr(heterogeneous, "characteristic_value", off)
    found = load("fig5").reproduce()
    assert not found.agrees
    red = dict(zip((row[0] for row in found.rows), found.reasons, strict=True))
    assert red["BIC"] == "29 flows, printed 24" and red["RENO"] == ""
