"""Tables fit a terminal of 80 columns, say the answer first, and cut no number."""

import pytest

import forebay
from forebay import report
from forebay.outcome import SizeResult
from forebay.report import print_comparison, print_outcome
from forebay.report.outcome import _class_title
from forebay.report.tables import called
from forebay.reproduction import Reproduction, print_reproduction
from forebay.scenario import loads


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
    changed = {
        **document,
        "buffer": None,
        "recommended": None,
        "reason": reason,
        "interrupted": True,
    }
    assert f"No answer yet: {reason}." in printed(print_size, changed)


WARNING = {
    "loss": 0.14, "of": "", "usable": 0.01, "source": "a design rule", "packets": 500,
    "missed": [], "largest": 900, "loss_there": 0.004,
}  # fmt: skip


def test_outcome(printed, outcome):
    out = printed(print_outcome, outcome(129))
    assert "buffer 129 packets, BDP 1292" in out
    assert "utilization, %       98.14 ±0.06" in out
    assert "fewer than 250 flows" in out


def test_comparison_has_a_column_an_engine(printed, outcome):
    out = printed(print_comparison, [outcome(129, "theory"), outcome(129)])
    assert out.splitlines()[1].split() == ["theory", "simulation"]


def test_comparison_says_first_what_its_numbers_rest_on(printed, outcome):
    said = {
        "assumptions": ("packets of 1500 B",),
        "late_starts": ("3 of 10 flows of a start late",),
    }
    law, run = (outcome(129, engine).model_copy(update=said) for engine in ("theory", "simulation"))
    run = run.model_copy(update={"disturbed": ("This machine stalled",)})
    head = printed(print_comparison, [law, run]).partition("utilization")[0]
    for line in (
        "3 of 10 flows of a start late.",
        "This machine stalled.",
        "Assumes packets of 1500 B.",
    ):
        assert head.count(line) == 1, line


def test_comparison_and_notebook_say_what_has_not_settled(printed, outcome):
    one = outcome(129)
    open_ = one.classes[0].model_copy(
        update={"settled": False, "unsettled": "flows have not settled"}
    )
    one = one.model_copy(update={"classes": [open_], "disturbed": ("This machine stalled",)})
    assert f"simulation, {called(open_)}: flows have not settled" in printed(
        print_comparison, [one]
    )
    page = one._repr_html_()
    assert "flows have not settled" in page and "This machine stalled." in page


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
            {"flows": 120, "buffer": {**document["buffer"], "packets": 99}, "region": [],
             "reason": None},
        ],
        "governs": {"regime": "many flows out of step", "law": "appenzeller-2004/utilization",
                    "why": "100 flows share the link.", "would_change": "Fewer flows."},
        "evidence": ["simulation, with 121 packets: nothing was dropped"],
        "memory": {"bytes": 181500, "tier": "on-chip SRAM", "date": "2019", "source": "a sheet",
                   "ram_bits": 2097152, "pool_shares": {"16 MB": 0.011},
                   "fits_sram_of_2004": True, "faster_than_one_dram": False,
                   "text": "fits on-chip SRAM"},
    }  # fmt: skip


@pytest.mark.parametrize(("sent", "said"), [(1.0, "1 sent"), (12.0, "12 sent"), (2.5, "2.50 sent")])
def test_flows_that_sent_are_counted_whole(sent: float, said: str) -> None:
    scenario = loads(
        'link.rate = "10 Mbit/s"\nmeasure = { warmup = "1 s", duration = "2 s" }\n'
        '[[traffic]]\nflows = 20\nrtt = "20 ms"\nstart = "0 s"\n'
    )
    (one,) = forebay.run(scenario).classes
    active = forebay.outcome.Metric(value=sent, low=None, high=None, n=1)
    title = _class_title(one.model_copy(update={"flows_active": active}))
    assert title.endswith(f": 20 flows, {said}")
