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
        "rows": [[100, 94.7], [200, None]], "reasons": ["", "no run"],
    }  # fmt: skip
    return Reproduction(**{**made, **changed})


def test_reproduction_gives_a_verdict_a_row(printed):
    out = printed(print_reproduction, reproduction())
    assert "94.7       ok" in out
    assert "200: no run" in out
    assert "1 of 2 rows" in out


def test_a_reproduction_of_uneven_rows_is_refused():
    with pytest.raises(ValueError, match="do not match"):
        reproduction(reasons=[""])
    with pytest.raises(ValueError, match="2 rows and 1 units"):
        reproduction(units=["%"])


def test_a_table_too_wide_for_the_terminal_is_not_cropped(capsys, monkeypatch, document):
    monkeypatch.setenv("COLUMNS", "40")
    print_size(document)
    out = capsys.readouterr().out
    assert "98.00 ±0.06" in out and "undecided" not in out
    assert "met, binds" in out and "0.398 ±0.020" in out


@pytest.fixture
def told(document):
    """What a sizing says besides: region, ends, the law that governs, memory."""
    return {
        **document,
        "region": [{"low": 121, "high": 300, "binding_low": ["utilization"],
                    "binding_high": ["queue_delay_maximum"]}],
        "flows": [
            {"flows": 80, "buffer": document["buffer"], "region": [], "reason": None},
            {"flows": 120, "buffer": {**document["buffer"], "packets": 99}, "reason": None},
        ],
        "governs": {"regime": "many flows out of step", "law": "appenzeller-2004/utilization",
                    "why": "100 flows share the link.", "would_change": "Fewer flows."},
        "evidence": ["simulation, with 121 packets: nothing was dropped"],
        "memory": {"tier": "on-chip SRAM", "text": "fits on-chip SRAM"},
    }  # fmt: skip


def test_size_says_what_else_would_do_and_who_governs(printed, told):
    out = " ".join(printed(print_size, told).split())
    assert "met with 121 to 300 packets: utilization forbids less, queue_delay_maximum" in out
    assert "99 to 121 packets open: 121 packets with 80 flows and 99 packets with 120" in out
    assert "What governs: many flows out of step (appenzeller-2004/utilization)." in out
    assert "What would change it: Fewer flows." in out
    assert "Simulation, with 121 packets: nothing was dropped." in out
    assert "Memory: fits on-chip SRAM." in out


def test_a_region_without_an_upper_end(printed, told):
    told["region"][0] |= {"high": None, "binding_high": []}
    out = printed(print_size, told)
    assert "All goals are met with 121 packets and more: utilization forbids less." in out


def test_what_must_give_way_is_a_table(printed, document):
    rows = [
        {"name": "utilization", "title": "", "sense": "at least", "unit": "", "target": 0.98,
         "relaxed": 0.9153, "packets": 71, "reached": None},
        {"name": "queue_delay_maximum", "title": "maximum of the queue delay", "sense": "at most",
         "unit": "s", "target": 0.0055, "relaxed": None, "packets": None, "reached": None},
    ]  # fmt: skip
    changed = {**document, "buffer": None, "reason": "none", "nearest": 64, "relaxations": rows}
    out = printed(print_size, changed)
    assert "at least 91.53 %       71" in out
    assert "at most 5.5 ms" in out
    assert "the other goals contradict each other even without this one" in " ".join(out.split())
