"""Tables fit a terminal of 80 columns, say the answer first, and cut no number."""

import copy

import pytest

import forebay
from forebay import report
from forebay.errors import Words, words
from forebay.outcome import SizeResult
from forebay.report import print_comparison, print_outcome
from forebay.report.outcome import _class_title
from forebay.report.tables import called
from forebay.reproduction import Reproduction, print_reproduction
from forebay.scenario import loads


def print_size(document):
    report.print_size(SizeResult.from_dict(document))


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
    assert lines[1] == "Recommended: 129 packets (193.5 kB, 9.99 ms at line rate)."
    assert lines[2] == "Why this size: the least lies between 117 and 121 packets."
    assert lines[3].startswith("Least that was shown to meet the goals: 121 packets (181.5 kB")
    assert "Why not less: with fewer packets, utilization of at least 98 %" in " ".join(lines)


def test_a_guess_is_no_recommendation_and_shows_its_bracket(printed, document):
    document["buffer"] |= {"packets": 21, "low": 16, "high": 4242}
    document |= {"recommended": None, "reason": "the evidence leaves 16 to 4242 packets"}
    out = " ".join(printed(print_size, document).split())
    assert "No buffer can be recommended: the evidence leaves 16 to 4242 packets." in out
    assert "it lies between 16 and 4242" in out and "enough" not in out


def test_goals_that_no_size_was_shown_to_miss_are_not_called_unreachable(printed, document):
    first = {**document["curve"][0], "verdict": "undecided"}
    changed = {**document, "buffer": None, "recommended": None, "curve": [first], "reason": "noise"}
    out = printed(print_size, changed)
    assert "No buffer can be recommended: noise." in out and "meets the goals" not in out
    assert SizeResult.from_dict(changed).exit_status == 3


def test_a_document_of_an_older_version_has_the_least_alone(printed, document):
    out = " ".join(printed(print_size, {**document, "recommended": None}).split())
    assert "the document is of a version that recommended none" in out
    assert "Least that was shown to meet the goals: 121 packets" in out


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
    rows = printed(print_size, document).split("Buffers tried")[1].splitlines()[4:]
    shown = [int(row.replace(">", "").split()[0]) for row in rows if row.strip()]
    assert len(shown) <= 14
    assert {1, 121, 5000} <= set(shown)


def test_no_answer_says_why_and_what_came_nearest(printed, document):
    missed = [{**point, "verdict": "missed"} for point in document["curve"]]
    changed = {
        **document, "buffer": None, "recommended": None, "curve": missed,
        "reason": "the goals contradict", "nearest": 64,
    }  # fmt: skip
    assert SizeResult.from_dict(changed).exit_status == 1
    out = printed(print_size, changed)
    assert "No buffer meets the goals: the goals contradict." in out
    assert "With 64 packets (the nearest to the goals): " in out


def test_a_stopped_sizing_is_no_answer_yet(printed, document):
    reason = "stopped after 14 buffers; started again, it begins anew"
    changed = {**document, "buffer": None, "reason": reason, "interrupted": True}
    assert f"No answer yet: {reason}." in printed(print_size, changed)


WARNING = {
    "loss": 0.14, "of": "", "usable": 0.01, "source": "a design rule", "packets": 500,
    "missed": [], "largest": 900, "loss_there": 0.004,
}  # fmt: skip


def test_loss_that_is_not_usable_is_in_the_headline_with_the_buffer_that_would_do(
    printed, document
):
    out = printed(print_size, {**document, "loss_warning": WARNING})
    flat = " ".join(out.split())
    said = "Warning: 14.0 % of the packets are lost with the least, more than the 1 %"
    assert said in flat
    change = 'scenario.replace({"goals.loss_rate": 0.01})'
    assert f"500 packets would keep it below 1 %; to make this a goal, write {change}." in flat
    assert out.index("Recommended: ") < out.index("Warning: ") < out.index("Why not less: ")
    assert "at line rate), but with a loss that is not usable." in flat


def test_a_class_that_loses_most_is_named_with_the_goal_to_set(printed, document):
    name = document["curve"][0]["outcome"]["classes"][0].get("name") or "long-0"
    changed = {**document, "loss_warning": {**WARNING, "of": name}}
    with words(Words.COMMAND_LINE):
        flat = " ".join(printed(print_size, changed).split())
    assert f"14.0 % of {name}'s packets are lost with the least" in flat
    assert "to make this a goal, write --set traffic.0.goals.loss_rate=0.01." in flat


def test_the_warning_says_what_the_larger_buffer_costs_or_that_there_is_none(printed, document):
    costs = {**WARNING, "missed": ["queue_delay_p99", "traffic.0.fct_p99"]}
    flat = " ".join(printed(print_size, {**document, "loss_warning": costs}).split())
    assert "below 1 %, but not meet p99 of the queueing delay and p99 of the completion" in flat


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (208, "No buffer within the goals keeps it below 1 %: with 900 packets, 8.40 %"),
        (900, "No buffer within the goals keeps it below 1 %: with 900 packets, 8.40 %"),
        (901, "With 900 packets, the largest that was tried, 8.40 % are lost; larger ones within"),
        (None, "With 900 packets, the largest that was tried, 8.40 % are lost; larger ones within"),
    ],
)
def test_no_buffer_keeps_the_loss_low_only_where_the_goals_end_was_tried(
    printed, document, end, says
):
    none = {**WARNING, "packets": None, "loss_there": 0.084}
    region = [{"low": 121, "high": end, "binding_low": [], "binding_high": []}]
    changed = {**document, "loss_warning": none, "region": region}
    assert says in " ".join(printed(print_size, changed).split())


def test_each_buffer_says_which_goal_it_misses_and_a_class_has_its_column(capsys, document):
    metric = {"value": 2.5, "low": 2.4, "high": 2.6, "n": 5}
    goal = {"name": "traffic.0.fct_p99", "sense": "at most", "unit": "s", "target": 2.0,
            "direction": "non-monotone", "reached": metric, "verdict": "missed",
            "binding": True}  # fmt: skip
    changed = copy.deepcopy(document)
    changed["goals"].append(goal)
    for point in changed["curve"]:
        point["goals"] = [{"name": goal["name"], "reached": metric, "verdict": "missed"}]
        point["verdict"] = "missed"
    print_size(changed)
    out = capsys.readouterr().out
    name = changed["curve"][0]["outcome"]["classes"][0].get("name") or "long-0"
    assert f"fct_p99 of {name}" in out and f"missed: fct_p99 of {name}" in out
    assert "2500 ±100" in out


def test_what_a_law_asks_for_is_rounded_up(printed, document):
    changed = copy.deepcopy(document)
    changed["laws"][0] |= {"packets": 127.03, "packets_between": None}
    changed["laws"][1] |= {"packets": 1166.2, "packets_between": [1166.2, 1166.9]}
    out = printed(print_size, changed).split("What published laws need")[1]
    first, second = (line.split()[1] for line in out.splitlines()[3:5])
    assert (first, second) == ("128", "1167")
    assert " … " not in out.split("Buffers tried")[0]


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


def test_a_sizing_says_first_what_a_stall_and_late_starts_did(printed, document):
    point = next(each for each in document["curve"] if each["packets"] == 121)
    point["outcome"]["disturbed"] = ["This machine stalled"]
    out = printed(print_size, {**document, "late_starts": ["3 of 10 flows of a start late"]})
    head = out.partition("Why not less")[0]
    assert "This machine stalled." in head and "3 of 10 flows of a start late." in head


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


def test_size_says_what_else_would_do_and_who_governs(printed, told):
    out = " ".join(printed(print_size, told).split())
    said = "121 to 300 packets meet all goals; a smaller size does not assure utilization"
    assert f"{said}, a larger size does not assure queue delay maximum." in out
    assert "answer is 99 to 121 packets: 121 packets with 80 flows and 99 packets with 120" in out
    assert "Regime: many flows out of step (appenzeller-2004/utilization)." in out
    assert "What would change it: Fewer flows." in out
    assert "Simulation, with 121 packets: nothing was dropped." in out
    assert "Memory: fits on-chip SRAM." in out


def test_a_region_without_an_upper_end(printed, told):
    told["region"][0] |= {"high": None, "binding_high": []}
    out = printed(print_size, told)
    assert "121 packets or more meet all goals; a smaller size does not assure utilization." in out


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
