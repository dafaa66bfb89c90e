"""Tables fit a terminal of 80 columns, say the answer first, and cut no number."""

import re

import pytest
from tests.report.conftest import reproduction, run_of
from tests.scenarios import scenario

import forebay
from forebay import report
from forebay.outcome import Metric, SizeResult
from forebay.report import print_comparison, print_outcome
from forebay.report.outcome import _MOST, _class_title
from forebay.report.tables import called
from forebay.reproduction import print_reproduction


def print_size(document):
    report.print_size(SizeResult.from_dict(document), explain=True)


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


def test_a_stopped_sizing_is_no_answer_yet(printed, document):
    reason = "stopped after 14 buffers; started again, it begins anew"
    nothing = {"buffer": None, "recommended": None, "reason": reason, "interrupted": True}
    assert f"No answer yet: {reason}." in printed(print_size, document | nothing)
    first = printed(print_size, document | {"interrupted": True}).splitlines()[1]
    assert first.startswith("Recommended: ") and first.endswith("; stopped before it was done.")


def test_outcome(printed):
    out = printed(print_outcome, run_of(129))
    assert "buffer 129 packets, BDP 1292" in out
    assert "utilization, %       98.14 ±0.06" in out
    assert "fewer than 250 flows" in out


def test_comparison_has_a_column_an_engine(printed):
    out = printed(print_comparison, [run_of(129, "theory"), run_of(129)])
    assert out.splitlines()[1].split() == ["theory", "simulation"]


def test_comparison_says_first_what_its_numbers_rest_on(printed):
    late = ("3 of 10 flows of a start late",)
    said = {"assumptions": ("packets of 1500 B",), "late_starts": late}
    law, run = (run_of(129, engine).model_copy(update=said) for engine in ("theory", "simulation"))
    run = run.model_copy(update={"disturbed": ("This machine stalled",)})
    head = printed(print_comparison, [law, run]).partition("utilization")[0]
    for line in (f"{late[0]}.", "This machine stalled.", "Assumes packets of 1500 B."):
        assert head.count(line) == 1, line


def test_comparison_and_notebook_say_what_has_not_settled(printed):
    one, said = run_of(129), "flows have not settled"
    open_ = one.classes[0].model_copy(update={"settled": False, "unsettled": said})
    one = one.model_copy(update={"classes": [open_], "disturbed": ("This machine stalled",)})
    assert f"simulation, {called(open_)}: {said}" in printed(print_comparison, [one])
    page = one._repr_html_()
    assert said in page and "This machine stalled." in page


def test_reproduction_gives_a_verdict_a_row(printed):
    out = printed(print_reproduction, reproduction())
    assert re.search(r"94\.9 +ok", out)
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


@pytest.mark.parametrize(("sent", "said"), [(1.0, "1 sent"), (12.0, "12 sent"), (2.5, "2.50 sent")])
def test_flows_that_sent_are_counted_whole(sent: float, said: str) -> None:
    (one,) = forebay.run(scenario({"traffic.0.flows": 20, "traffic.0.start": "0 s"})).classes
    active = Metric(value=sent, low=None, high=None, n=1)
    title = _class_title(one.model_copy(update={"flows_active": active}))
    assert title.endswith(f": 20 flows, {said}")


def with_links(outcome, many):
    (link,) = outcome.links.values()
    losses = [Metric(value=i / (10 * many), low=None, high=None, n=1) for i in range(many)]
    links = {f"l{i}": link.model_copy(update={"loss_rate": loss}) for i, loss in enumerate(losses)}
    return outcome.model_copy(update={"links": links})


def test_all_links_are_shown_unless_they_are_very_many(capsys):
    print_outcome(with_links(run_of(129), _MOST))
    text = capsys.readouterr().out
    assert text.count("Link l") == _MOST and "that lose most" not in text
    print_outcome(with_links(run_of(129), 400))
    text = capsys.readouterr().out
    assert f"The {_MOST} of 400 links that lose most; --json has each" in text
    assert text.count("Link l") == _MOST
    assert text.index("Link l399") < text.index("Link l398")
    assert "Link l5:" not in text
