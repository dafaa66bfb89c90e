"""Figure 15: the files say what the paper prints, the band follows, and a miss is red."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import forebay
from forebay.effort import Effort
from forebay.outcome import LinkOutcome, Metric, Outcome, Provenance
from forebay.reproduction import KERNEL, SIMULATION, Measured, count
from forebay.reproduction.papers.appenzeller_2004 import line_card

HALF = 0.01  # of the interval that the simulation says, points
FOLDER = line_card.FIG15


@pytest.fixture
def fig15() -> Any:
    return line_card


def test_the_printed_rows_are_whole_and_spot_checked(fig15: ModuleType) -> None:
    rows = fig15.published()
    assert [(row.flows, row.multiple) for row in rows] == [
        (flows, multiple) for flows in (100, 200, 300, 400) for multiple in (0.5, 1, 2, 3)
    ]
    by_key = {(row.flows, row.multiple): row for row in rows}
    assert by_key[100, 0.5] == fig15.Row(100, 0.5, 64, 96.9, 94.7, 94.9)
    assert by_key[400, 3] == fig15.Row(400, 3, 192, 100, 100, 99.9)
    assert all(row.sim <= row.model for row in rows)


def test_the_printed_packets_are_the_multiples_of_the_scenario_s_bdp(fig15: ModuleType) -> None:
    """Section 5.2.1: RTT x C is 1291 packets; the rows are cut or rounded, 2 packets at most."""
    scenario = forebay.load(FOLDER / "scenario.toml")
    assert scenario.bdp_packets == pytest.approx(1291, abs=1)
    for row in fig15.published():
        exact = row.multiple * scenario.bdp_packets / row.flows**0.5
        assert row.packets == pytest.approx(exact, abs=2)


def test_the_band_is_the_paper_s_own_spread_and_nothing_else(fig15: ModuleType) -> None:
    accuracy = fig15.read("published.toml")["accuracy"]
    for multiple, points in fig15.band().items():
        apart = [abs(row.exp - row.sim) for row in fig15.published() if row.multiple == multiple]
        assert points == pytest.approx(max(apart) + accuracy)


def test_the_set_up_is_the_shipped_scenario(fig15: ModuleType) -> None:
    """What `size` answers by default and what Figure 15 is held against is one link."""
    shipped = forebay.load(Path(__file__).resolve().parents[3] / "scenarios" / "oc3-gsr.toml")
    assert forebay.load(FOLDER / "scenario.toml").sha256() == shipped.sha256()


def test_every_cause_belongs_to_a_row(fig15: ModuleType) -> None:
    rows = {(row.flows, row.multiple) for row in fig15.published()}
    causes = fig15.read("causes.toml")
    for cause in [*causes.get("cause", []), *causes.get("experiment", [])]:
        assert (cause["flows"], cause["multiple"]) in rows
        assert cause["why"].strip() == cause["why"] != ""


def answer(scenario: Any, engine: str, percent: float, half: float = 0.0) -> Outcome:
    share, half = percent / 100, half / 100
    utilization = Metric(value=share, low=share - half, high=share + half, n=2)
    link = LinkOutcome(
        utilization=utilization, loss_rate=None, queue_packets=None, queue_delay_s=None,
        buffer_packets=scenario.buffer_packets, bdp_packets=scenario.bdp_packets,
    )  # fmt: skip
    known = Provenance(version="0", seeds=[1, 2], scenario_sha256="", wall_s=0.0)
    return Outcome(
        scenario={}, engine=engine, links={"bottleneck": link}, classes=[],
        broken_assumptions=[], provenance=known,
    )  # fmt: skip


@pytest.fixture
def recorded(
    fig15: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[tuple[int, int], list[float]]:
    """What the testbed has said for (flows, packets), percent a run; nothing at first."""
    runs: dict[tuple[int, int], list[float]] = {}

    def read(folder: Path) -> Measured:
        measured = Measured(tmp_path)
        measured.runs = [
            {**dict(zip(("flows", "packets"), key, strict=True)), "utilization": each / 100,
             "seed": 1, "kernel": "6.18.0", "date": "2026-11-22"}
            for key, values in runs.items() for each in values
        ]  # fmt: skip
        return measured

    monkeypatch.setattr(fig15, "Measured", read)
    return runs


@pytest.fixture
def said(
    fig15: ModuleType, monkeypatch: pytest.MonkeyPatch, recorded: object
) -> dict[tuple[int, int], float]:
    """What the simulation shall say for (flows, packets); the printed Sim. at first."""
    values = {(row.flows, row.packets): row.sim for row in fig15.published()}

    def run(scenario: Any, engine: str = "simulation", **options: Any) -> Outcome:
        if options.get("progress"):
            options["progress"](0.5)
        percent = values[scenario.n_flows, scenario.buffer_packets]
        return answer(scenario, engine, 78.4 if engine == "theory" else percent, HALF)

    monkeypatch.setattr(forebay, "run", run)
    return values


def test_values_as_printed_are_in_their_band(
    fig15: ModuleType, said: dict[tuple[int, int], float]
) -> None:
    seen: list[float] = []
    made = fig15.fig15.reproduce(Effort(seeds=2, jobs=1, progress=seen.append), quick=True)
    assert made.agrees and len(made.rows) == 16
    first = dict(zip(made.columns, made.rows[0], strict=True))
    assert (first["Model"], first["eq. 6"]) == (96.9, 78.4)
    assert (first["Sim."], first["Exp."]) == (94.7, 94.9)
    assert first["Sim. ours"].value == pytest.approx(94.7)
    assert seen == sorted(seen) and seen[0] > 0 and seen[-1] < 1


def test_a_row_out_of_its_band_is_red_with_its_distance(
    fig15: ModuleType, said: dict[tuple[int, int], float]
) -> None:
    said[200, 182] = 99.8 - 0.25
    said[200, 91] = 99.2 - 1.25
    made = fig15.fig15.reproduce(Effort(seeds=2), quick=True)
    wrong = [i for i, good in enumerate(made.verdicts) if not good]
    assert [made.rows[i][:3] for i in wrong] == [[200, 2, 182]]
    assert made.reasons[wrong[0]].startswith("0.25 points below Sim., band ±0.2; ")
    assert not made.agrees


def test_a_miss_that_noise_may_explain_says_so_and_stays_a_miss(
    fig15: ModuleType, said: dict[tuple[int, int], float]
) -> None:
    said[200, 182] = 99.8 - 0.2 - HALF / 2
    made = fig15.fig15.reproduce(Effort(seeds=2), quick=True)
    assert not made.verdicts[6]
    assert "though our interval reaches into it" in made.reasons[6]


def test_the_testbed_s_column_has_its_own_band(
    fig15: ModuleType,
    said: dict[tuple[int, int], float],
    recorded: dict[tuple[int, int], list[float]],
) -> None:
    recorded[100, 64] = [94.9 + 1.8, 94.9 + 2.0]
    recorded[100, 129] = [98.1 - 2.0, 98.1 - 2.2]
    made = fig15.fig15.reproduce(Effort(seeds=2), quick=True)
    cells = [row[made.columns.index("Exp. ours")] for row in made.rows]
    assert cells[0].value == pytest.approx(96.8) and cells[0].n == 2
    assert cells[0].low < 96.8 < cells[0].high and cells[2:] == [None] * 14
    assert made.verdicts == [True, False] + [True] * 14
    assert made.reasons[1].startswith("2.10 points below Exp., band ±2; ")
    assert any("in 1 of 16 rows (2 measured)" in note for note in made.notes)
    assert any("Linux 6.18.0" in note for note in made.notes)


def test_a_row_that_was_not_played_says_so(
    fig15: ModuleType, said: dict[tuple[int, int], float]
) -> None:
    made = fig15.fig15.reproduce(Effort(seeds=2), quick=True)
    assert made.agrees and any("not measured" in note for note in made.notes)


def test_two_rows_carry_the_test_and_it_is_said(
    fig15: ModuleType, said: dict[tuple[int, int], float]
) -> None:
    for key in said:
        said[key] = 100.0
    made = fig15.fig15.reproduce(Effort(seeds=2), quick=True)
    assert [row[:2] for row, good in zip(made.rows, made.verdicts, strict=True) if not good] == [
        [100, 0.5], [200, 0.5],
    ]  # fmt: skip
    assert any(
        "carried by 100 flows at 0.5 and 200 flows at 0.5" in note and "other 14" in note
        for note in made.notes
    )
    assert sum(bool(check.full_passes) for check in made.checks) == 14


def test_simulation_and_kernel_are_counted_apart(
    fig15: ModuleType,
    said: dict[tuple[int, int], float],
    recorded: dict[tuple[int, int], list[float]],
) -> None:
    recorded[100, 64] = [90.0]
    kinds = {
        each.kind: each for each in count([fig15.fig15.reproduce(Effort(seeds=2), quick=True)])
    }
    assert (kinds[SIMULATION].rows, kinds[SIMULATION].inside) == (16, 16)
    assert (kinds[KERNEL].rows, kinds[KERNEL].inside) == (1, 0)


def test_what_the_paper_leaves_open_stands_beside_the_verdict(
    fig15: ModuleType, said: dict[tuple[int, int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[bool | None, Any]] = []
    answered = forebay.run

    def run(scenario: Any, engine: str = "simulation", **options: Any) -> Outcome:
        group = scenario.traffic[0]
        if engine == "simulation":
            asked.append((group.delayed_ack, group.delayed_ack_timeout))
        return answered(scenario, engine, **options)

    monkeypatch.setattr(forebay, "run", run)
    found = fig15.fig15.reproduce(Effort(seeds=2)).variants
    assert found is not None and len(found.names) == 5 and len(found.rows) == 16
    assert asked.count((None, None)) == 48  # as chosen, and two other spreads of round trips
    assert asked.count((True, None)) == asked.count((True, 0.1)) == 16
