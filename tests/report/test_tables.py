"""Tables fit a terminal of 80 columns, say the answer first, and cut no number."""

import copy

import pytest

from forebay.report import (
    Reproduction,
    print_comparison,
    print_outcome,
    print_reproduction,
    print_size,
)


@pytest.fixture
def printed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def call(report, *arguments):
        report(*arguments)
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80
        assert "…" not in out.replace(" … ", ""), "a cut cell"
        assert "\x1b" not in out, "no escape codes where there is no terminal"
        return out

    return call


def test_size_answers_in_its_first_sentence(printed, document):
    lines = [line.strip() for line in printed(print_size, document).splitlines() if line.strip()]
    assert lines[1] == "Buffer: 121 packets (181.5 kB, 9.37 ms at line rate)."
    assert lines[2].startswith("Why: with fewer packets, utilization of at least 98 %")


def test_size_shows_goal_laws_and_curve(printed, document):
    out = printed(print_size, document)
    assert "97.94 … 98.06" in out and "met, binds" in out
    assert "appenzeller-2004/sqrt-n" in out and "may be synchronized" in out
    assert "> 121" in out
    assert "0.398 ±0.020" in out and "4.32 ±0.13" in out


def test_a_long_curve_keeps_its_ends_and_the_answer(printed, document):
    document["curve"] = [
        {**document["curve"][0], "packets": packets} for packets in (1, *range(90, 150), 5000)
    ]
    rows = printed(print_size, document).split("Buffers tried")[1].splitlines()[3:]
    shown = [int(row.replace(">", "").split()[0]) for row in rows if row.strip()]
    assert len(shown) <= 14
    assert {1, 121, 5000} <= set(shown)


def test_no_answer_says_why_and_what_came_nearest(printed, document):
    changed = {**document, "buffer": None, "reason": "the goals contradict", "nearest": 64}
    out = printed(print_size, changed)
    assert "There is no answer: the goals contradict." in out
    assert "at 64 packets, the nearest" in out


def test_what_was_not_measured_is_a_dash(printed, document):
    changed = copy.deepcopy(document)
    for point in changed["curve"]:
        point["outcome"]["links"]["bottleneck"]["loss_rate"] = None
    row = next(r for r in printed(print_size, changed).splitlines() if "> 121" in r)
    assert row.split()[4] == "–"


def test_outcome(printed, outcome):
    out = printed(print_outcome, outcome(129))
    assert "buffer 129 packets, BDP 1292" in out
    assert "utilization, %       98.14 ±0.06" in out
    assert "fewer than 250 flows" in out


def test_comparison_has_a_column_an_engine(printed, outcome):
    out = printed(print_comparison, [outcome(129, "theory"), outcome(129)])
    assert out.splitlines()[1].split() == ["theory", "simulation"]


def reproduction(**changed):
    made = {
        "artefact": "A.fig15", "title": "Figure 15", "columns": ["flows", "Sim. ours"],
        "rows": [[100, 94.7], [200, None]], "verdicts": [True, False], "reasons": ["", "no run"],
    }  # fmt: skip
    return Reproduction(**{**made, **changed})


def test_reproduction_gives_a_verdict_a_row(printed):
    out = printed(print_reproduction, reproduction())
    assert "94.7       ok" in out
    assert "200: no run" in out
    assert "1 of 2 rows" in out


def test_a_reproduction_of_uneven_rows_is_refused():
    with pytest.raises(ValueError, match="do not match"):
        reproduction(verdicts=[True])


def test_a_table_too_wide_for_the_terminal_is_not_cropped(capsys, monkeypatch, document):
    monkeypatch.setenv("COLUMNS", "40")
    print_size(document)
    out = capsys.readouterr().out
    assert "98.00 ±0.06" in out and "undecided" not in out
    assert "met, binds" in out and "0.398 ±0.020" in out
