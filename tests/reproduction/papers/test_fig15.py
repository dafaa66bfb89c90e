"""Figure 15: the files say what the paper prints, the band follows, and a miss is red."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.outcomes import around, link_of, outcome_of

import forebay
from forebay.effort import Effort
from forebay.outcome import Outcome
from forebay.reproduction import KERNEL, SIMULATION, Measured, Reproduction, count
from forebay.reproduction.papers.appenzeller_2004 import line_card
from forebay.reproduction.papers.appenzeller_2004.line_card import FIG15, Printed, published, read

HALF = 0.01  # of the interval that the simulation says, points
ROWS = published()
Key = tuple[int, int]
"""Flows, and packets of buffer."""


def test_the_printed_rows_are_whole_and_spot_checked() -> None:
    assert [(row.flows, row.multiple) for row in ROWS] == [
        (flows, multiple) for flows in (100, 200, 300, 400) for multiple in (0.5, 1, 2, 3)
    ]
    by_key = {(row.flows, row.multiple): row for row in ROWS}
    assert by_key[100, 0.5] == Printed(100, 0.5, 64, 96.9, 94.7, 94.9)
    assert by_key[400, 3] == Printed(400, 3, 192, 100, 100, 99.9)
    assert all(row.sim <= row.model for row in ROWS)


def test_the_set_up_is_the_shipped_scenario_and_the_buffers_are_multiples_of_its_bdp() -> None:
    """Section 5.2.1: RTT x C is 1291 packets; the rows are cut or rounded, 2 packets at most."""
    scenario = forebay.load(FIG15 / "scenario.toml")
    assert scenario.sha256() == forebay.load("oc3-gsr").sha256()
    assert scenario.bdp_packets == pytest.approx(1291, abs=1)
    for row in ROWS:
        exact = row.multiple * scenario.bdp_packets / row.flows**0.5
        assert row.packets == pytest.approx(exact, abs=2)


def test_the_band_is_the_paper_s_own_spread_and_nothing_else() -> None:
    accuracy = read("published.toml")["accuracy"]
    for multiple, points in line_card.band().items():
        apart = [abs(row.exp - row.sim) for row in ROWS if row.multiple == multiple]
        assert points == pytest.approx(max(apart) + accuracy)


def test_every_cause_belongs_to_a_row() -> None:
    rows = {(row.flows, row.multiple) for row in ROWS}
    causes = read("causes.toml")
    for cause in [*causes.get("cause", []), *causes.get("experiment", [])]:
        assert (cause["flows"], cause["multiple"]) in rows
        assert cause["why"].strip() == cause["why"] != ""


def answer(engine: str, percent: float) -> Outcome:
    return outcome_of(link_of(utilization=around(percent / 100, HALF / 100, 2)), engine=engine)


Make = Callable[..., Reproduction]


@pytest.fixture
def asked() -> list[Any]:
    """The scenarios that were simulated."""
    return []


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: list[Any]) -> Make:
    """Reproduce the figure where the simulator says the printed Sim. but in ``said`` rows, and the
    testbed has recorded the ``played`` runs; all in percent.
    """

    def made(
        said: dict[Key, float] | None = None,
        played: dict[Key, list[float]] | None = None,
        quick: bool = True,
        progress: Any = None,
    ) -> Reproduction:
        values = {(row.flows, row.packets): row.sim for row in ROWS} | (said or {})

        def run(scenario: Any, engine: str = "simulation", **options: Any) -> Outcome:
            if options.get("progress"):
                options["progress"](0.5)
            if engine == "theory":
                return answer(engine, 78.4)
            asked.append(scenario)
            return answer(engine, values[scenario.n_flows, scenario.buffer_packets])

        def measured(_: Path) -> Measured:
            found = Measured(tmp_path)
            found.runs = [
                {"flows": flows, "packets": packets, "utilization": each / 100, "seed": 1,
                 "kernel": "6.18.0", "date": "2026-11-22"}
                for (flows, packets), runs in (played or {}).items() for each in runs
            ]  # fmt: skip
            return found

        monkeypatch.setattr(forebay, "run", run)
        monkeypatch.setattr(line_card, "Measured", measured)
        return line_card.fig15.reproduce(Effort(seeds=2, jobs=1, progress=progress), quick)

    return made


def test_values_as_printed_are_in_their_band(make: Make) -> None:
    seen: list[float] = []
    made = make(progress=seen.append)
    assert made.agrees and len(made.rows) == 16
    first = dict(zip(made.columns, made.rows[0], strict=True))
    assert (first["Model"], first["eq. 6"]) == (96.9, 78.4)
    assert (first["Sim."], first["Exp."]) == (94.7, 94.9)
    assert first["Sim. ours"].value == pytest.approx(94.7)
    assert seen == sorted(seen) and seen[0] > 0 and seen[-1] < 1
    assert any("not measured" in note for note in made.notes)


def test_a_row_out_of_its_band_is_red_with_its_distance(make: Make) -> None:
    made = make({(200, 182): 99.8 - 0.25, (200, 91): 99.2 - 1.25})
    wrong = [i for i, good in enumerate(made.verdicts) if not good]
    assert [made.rows[i][:3] for i in wrong] == [[200, 2, 182]]
    assert made.reasons[wrong[0]].startswith("0.25 points below Sim., band ±0.2; ")
    near = make({(200, 182): 99.8 - 0.2 - HALF / 2})  # noise may explain it, and it stays a miss
    assert not near.verdicts[6] and "though our interval reaches into it" in near.reasons[6]


def test_the_testbed_s_column_has_its_own_band(make: Make) -> None:
    made = make(played={(100, 64): [94.9 + 1.8, 94.9 + 2.0], (100, 129): [98.1 - 2.0, 98.1 - 2.2]})
    cells = [row[made.columns.index("Exp. ours")] for row in made.rows]
    assert cells[0].value == pytest.approx(96.8) and cells[0].n == 2
    assert cells[0].low < 96.8 < cells[0].high and cells[2:] == [None] * 14
    assert made.verdicts == [True, False] + [True] * 14
    assert made.reasons[1].startswith("2.10 points below Exp., band ±2; ")
    assert any("in 1 of 16 rows (2 measured)" in note for note in made.notes)
    assert any("Linux 6.18.0" in note for note in made.notes)
    kinds = {each.kind: each for each in count([made])}
    assert (kinds[SIMULATION].rows, kinds[SIMULATION].inside) == (16, 16)
    assert (kinds[KERNEL].rows, kinds[KERNEL].inside) == (2, 1)


def test_two_rows_carry_the_test_and_it_is_said(make: Make) -> None:
    made = make({(row.flows, row.packets): 100.0 for row in ROWS})
    assert [row[:2] for row, good in zip(made.rows, made.verdicts, strict=True) if not good] == [
        [100, 0.5], [200, 0.5],
    ]  # fmt: skip
    assert any(
        "carried by 100 flows at 0.5 and 200 flows at 0.5" in note and "other 14" in note
        for note in made.notes
    )
    assert sum(bool(check.full_passes) for check in made.checks) == 14


def test_what_the_paper_leaves_open_stands_beside_the_verdict(make: Make, asked: list[Any]) -> None:
    found = make(quick=False).variants
    assert len(found.names) == 5 and len(found.rows) == 16
    acks = [(s.traffic[0].delayed_ack, s.traffic[0].delayed_ack_timeout) for s in asked]
    assert acks.count((None, None)) == 48  # as chosen, and two other spreads of round trips
    assert acks.count((True, None)) == acks.count((True, 0.1)) == 16
