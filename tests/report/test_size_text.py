"""The text of a sizing: at most 14 lines of 80 columns, the answer first; the rest on demand."""

import copy
from typing import Any

import pytest

from forebay.outcome import SizeResult
from forebay.report.size import COLUMNS, LINES, brief, explained, print_size, sentence


def metric(value: float) -> dict[str, Any]:
    return {"value": value, "low": value, "high": value, "n": 5}


def priced(packets: int, used: float, lost: float, wait: float, why: str, **more: Any) -> Any:
    delay = {"mean": metric(wait), "p50": None, "p95": None, "p99": metric(2 * wait)}
    values = {"utilization": metric(used), "loss_rate": metric(lost), "queue_delay_s": delay}
    return {"packets": packets, "why": why, **values, **more}


@pytest.fixture
def answered(document: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(document)
    found["recommended"] |= {"packets": 129, "step": 3, "why": ["r RTT/sqrt(n)"]}
    found["price"] = [
        priced(64, 0.93, 0.021, 0.002, "half"), priced(129, 0.98, 0.0135, 0.005, "recommended"),
        priced(258, 1.0, 0.0091, 0.012, "double"),
        priced(221, 0.999, 0.01, 0.01, "loss 1 %", approximate=True),
    ]  # fmt: skip
    found["assumptions"] = ["access links of 1.55 Gbit/s, ten times the link", "x" * 60, "y" * 60]
    found["cost"] = {"predicted_s": 2.0, "spent_s": 3.66, "budget_s": 60.0}
    return found


def lines(document: dict[str, Any]) -> list[str]:
    found = brief(SizeResult.from_dict(document))
    assert len(found) <= LINES and max(map(len, found)) <= COLUMNS
    return found


def test_it_is_short_and_begins_with_the_answer(answered: dict[str, Any]) -> None:
    said = lines(answered)
    assert said[1] == "Recommended: 129 packets (193.5 kB, 9.99 ms)."
    assert said[2] == "Why: r RTT/sqrt(n)."
    assert said[3].startswith("Least shown: 121 packets (117 to 121); binds: utilization")
    rows = {line.split()[-1]: line.split() for line in said[5:9]}
    assert rows["recommended"][:4] == [">", "129", "98.0", "1.35"]
    assert rows["%"][:3] == ["≈", "221", "99.9"]
    assert said[-1] == "By simulation, up to 5 seeds, 3.66 s of 60.0 s."
    assert "(+2)." in next(line for line in said if line.startswith("Assumed: "))


@pytest.mark.parametrize(
    ("lost", "verdict", "said"),
    [
        (0.064, "met", "; 6.40 % lost."),
        (0.04, "undecided", "; utilization undecided."),
        (0.04, "met", " (193.5 kB, 9.99 ms)."),
    ],
)
def test_the_first_line_says_what_is_wrong_with_the_size(answered, lost, verdict, said):
    answered["price"][1]["loss_rate"] = metric(lost)
    answered["goals"][0]["verdict"] = verdict
    assert sentence(SizeResult.from_dict(answered)).endswith(said)


def test_a_loss_that_nothing_lowers_is_told_without_a_row(answered: dict[str, Any]) -> None:
    answered["price"] = answered["price"][:3]
    assert "No size that was run within the goals loses 1 % or less." in lines(answered)


def test_what_meets_no_goal_is_said_in_the_first_lines(document: dict[str, Any]) -> None:
    reason = "utilization of at least 99 % is missed with each size from 1 to 5231 packets; at best"
    document |= {"buffer": None, "recommended": None, "reason": f"{reason} 97 %, with 640 packets"}
    document |= {"region": [], "nearest": 129}
    said = lines(document)
    assert said[1].startswith("No buffer meets the goals: utilization of at least 99 %")
    assert said[2].endswith("97 %, with 640 packets.")
    undecided = lines(document | {"undecided": True})
    assert undecided[1].startswith("No buffer can be recommended: ")
    why = "A policer drops before the queue: no buffer behind it changes that. "
    policed = {"law": None, "regime": "policed", "why": 3 * why, "would_change": "a longer burst"}
    told = lines(document | {"governs": policed})
    assert "Law: none governs (policed). A policer drops before the queue: no buffer" in told[-3]
    assert told[-2].startswith("  it changes that. ") and told[-2].endswith(" … (--explain)")


@pytest.mark.parametrize("spare", range(8))
def test_a_line_is_cut_between_words(answered: dict[str, Any], spare: int) -> None:
    name = f"{'n' * (COLUMNS - len(' … (--explain)') - spare)} 98.5 and what follows it"
    said = lines(answered | {"scenario": name})[0].removesuffix(" … (--explain)")
    assert name.startswith(f"{said} ") and said[-1] in "n5d"


def test_what_was_sized_is_named_and_no_law_of_a_queue_stands_beside_it(answered) -> None:
    law = answered["laws"][0]["law"]
    answered |= {"governs": {"law": law, "regime": "r", "why": "w", "would_change": "c"}}
    of = answered | {"of": "link.shaper.burst", "of_value": "9 kB"}
    assert any(line.startswith("Law: ") for line in lines(answered))
    assert not any(line.startswith("Law: ") for line in lines(of))
    none = lines(of | {"buffer": None, "recommended": None, "reason": "too little"})
    assert none[1] == "No link.shaper.burst meets the goals: too little."


def test_an_interval_beside_a_time_or_bytes_is_in_packets(answered) -> None:
    red = {"discipline": "red", "packet_s": 77.4e-6, "packet_bytes": 1500, "limit_packets": 999}
    red |= {
        "parameter": "min",
        "min_bytes": 37500,
        "max_bytes": 37600,
        "probability": 1.0,
        "ecn": True,
    }
    assert "of 181.5 kB (117 to 121 packets)" in lines(answered | {"aqm": red})[3]


def test_a_name_of_any_length_and_many_remarks_fit(answered: dict[str, Any]) -> None:
    answered |= {"scenario": "n" * 200, "notes": [f"a note {'z' * 90}", "another"]}
    said = lines(answered)
    assert said[0].endswith("… (--explain)")
    assert any(line.startswith("Note: a note") and "(+1: --explain)" in line for line in said)
    whole = explained(SizeResult.from_dict(answered))
    assert any("z" * 90 in line for line in whole) and "Another." in whole


def test_all_evidence_is_printed_where_it_is_asked_for(answered, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_size(SizeResult.from_dict(answered))
    assert len(capsys.readouterr().out.splitlines()) <= LINES
    print_size(SizeResult.from_dict(answered), explain=True)
    out = capsys.readouterr().out
    for title in ("Goals", "What published laws need", "Sizes that were run (simulation)"):
        assert title in out
    assert max(map(len, out.splitlines()[LINES:])) <= 80


def test_the_evidence_marks_the_recommended_size_and_tells_of_its_run(answered, capsys):
    """It marked the least, and told what each class gets there."""
    other = copy.deepcopy(answered["curve"][-1]) | {"packets": 129}
    answered["curve"] = sorted([*answered["curve"], other], key=lambda point: point["packets"])
    found = SizeResult.from_dict(answered)
    assert found.there is not None and found.there.packets == found.chosen == 129
    print_size(found, explain=True)
    out = capsys.readouterr().out.splitlines()
    marked = [line.split()[:2] for line in out if line.lstrip().startswith(">")]
    assert len(marked) == 3 and all(mark == [">", "129"] for mark in marked)


@pytest.mark.parametrize(("engine", "how"), [("simulation", " by their means"), ("theory", "")])
def test_sizes_that_a_simulation_was_run_with_meet_the_goals_by_their_means(answered, engine, how):
    """A size may be among them whose interval leaves a goal undecided."""
    region = {"low": 117, "high": 300, "binding_low": [], "binding_high": []}
    answered |= {"engine": engine, "region": [region]}
    said = f"Of the sizes run, 117 to 300 packets meet the goals{how}."
    assert said in explained(SizeResult.from_dict(answered))


def test_an_older_document_is_read_and_told(document: dict[str, Any]) -> None:
    old = {"loss_warning": None, "bracket": {"low": 1}, "evidence": ["a line"]}
    said = lines(document | old | {"recommended": None})
    assert "the document is of a version that recommended none" in " ".join(" ".join(said).split())
