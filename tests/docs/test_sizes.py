"""The tables of docs/sizes are those of the studies beside them, and the studies can be run."""

import csv
import runpy
import tomllib
from pathlib import Path

import pytest

import forebay

SIZES = Path(__file__).parents[2] / "docs" / "sizes"
STUDIES = sorted(SIZES.glob("*.csv"))


def rows_of(study: Path) -> list[dict[str, str]]:
    with study.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_the_links_that_operators_have() -> None:
    assert len(STUDIES) == 8


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_a_page_has_the_table_of_its_study(study: Path) -> None:
    rows = rows_of(study)
    table = runpy.run_path(str(SIZES / "write.py"))["table"](rows)
    assert table in study.with_suffix(".md").read_text(encoding="utf-8")
    assert "**" in table


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_a_study_is_of_the_cells_of_its_grid(study: Path) -> None:
    grid = tomllib.loads(study.with_suffix(".toml").read_text(encoding="utf-8"))
    base = forebay.load(SIZES / grid["base"])
    rate, flows, mix = grid["axes"].values()
    assert len(rate) * len(flows) * len(mix) == 12
    base.replace({list(grid["axes"])[1]: flows[0], list(grid["axes"])[2]: mix[1]})
    rows = rows_of(study)
    assert 0 < len(rows) <= 12
    assert {next(iter(row.values())) for row in rows} <= set(rate)
