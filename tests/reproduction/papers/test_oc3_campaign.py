"""The 15,000 runs on an OC3: the table is the whole study, and its needs are read right."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import forebay
from forebay.reproduction.papers.appenzeller_2004 import line_card
from forebay.reproduction.papers.appenzeller_2004.line_card import Combination, read_runs

FOLDER = Path(line_card.__file__).parent / "oc3_campaign"


def test_the_table_has_every_run_of_the_study() -> None:
    table = read_runs(FOLDER / "runs.csv")
    assert sum(map(len, table.values())) == 15_000
    assert {len(used) for used in table.values()} == {10}
    assert {cell.flows for cell in table} == set(range(10, 501, 10))
    assert len({cell.multiple for cell in table}) == 10
    assert len({cell.rtts for cell in table}) == 3
    assert line_card.written(table) == (FOLDER / "runs.csv").read_text("utf-8")


def test_the_table_is_made_of_what_a_sweep_exports(tmp_path: Path) -> None:
    study = forebay.sweep(
        forebay.load(FOLDER / "scenario.toml"),
        {
            "traffic.0.flows": [10],
            "queue.size": ["0.25 bdp/sqrt(n)"],
            "traffic.0.rtt": [{"uniform": ["60 ms", "100 ms"]}],
        },
        seeds=2, store=tmp_path / "store.sqlite",
    )  # fmt: skip
    study.export(tmp_path / "out.csv")
    cell = Combination(10, 0.25, 60, 100)
    made = line_card.collected(tmp_path / "out.csv")
    assert made == {cell: read_runs(FOLDER / "runs.csv")[cell][:2]}


@pytest.mark.parametrize(
    ("target", "needs"), [(0.9, 0.5), (0.99, 1.0), (0.9968377, 1.4142), (0.9999, math.inf)]
)
def test_a_need_lies_between_the_buffers_that_enclose_it(target: float, needs: float) -> None:
    """The idle share is 1, 10, 1 and 0.1 % at 0.25, 0.5, 1 and 2 times the rule."""
    used = {0.5: 0.9, 1.0: 0.99, 2.0: 0.999}
    table = {Combination(300, at, 60, 100): [each - 1e-4, each + 1e-4] for at, each in used.items()}
    found = line_card.need(table, 300, (60, 100), target)
    assert found == pytest.approx(needs, rel=1e-3)
