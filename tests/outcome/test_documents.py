"""Answers as documents: read back equal, closed, versioned, with a schema that is shipped."""

import io
import json
import math
from typing import Any

import jsonschema
import pytest
from generate.answers import DOCUMENTS, SHIPPED, schema, text
from pydantic import ValidationError
from tests.scenarios import PAIR

import forebay
from forebay.outcome import Comparison, Document, DocumentError, Outcome, SizeResult, Verdict
from forebay.outcome.class_queues import ClassQueueSize, ClassQueueSizes, JointGoal
from forebay.outcome.document import within_bounds
from forebay.outcome.size_result import Buffer
from forebay.outcome.trace import Trace
from forebay.outcome.transient import Transient
from forebay.outcome.uncertain import Sensitivity
from forebay.scenario import Scenario, loads
from forebay.words import Notation

TEXT = """
link.rate = "5 Mbit/s"
queue.size = "10 packets"
measure = { warmup = "1 s", duration = "4 s" }
goals = { utilization = { at_least = 0.5, probability = 0.3 } }
traffic = [{ flows = 2 }, { kind = "short", length = "3 packets", load = 0.2, name = "web" }]
"""
ADDED = (
    "name", "link", "transfers", "unfinished", "fct_least_s", "fct_open", "queue_delay_s",
    "controllers",
)  # fmt: skip


OC3 = forebay.load("oc3-gsr")
AS_TEXT = ("sensitivity", "uncertain-size")
"""Those whose ``str()`` is the whole text."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return loads(TEXT)


@pytest.fixture(scope="module")
def answers(scenario: Scenario) -> dict[str, Document]:
    outcome = forebay.run(scenario, seeds=2, jobs=1)
    queue = ClassQueueSize(
        name="rest", traffic=("web",), is_sized=True, packets=9, bytes=13_500, seconds=0.02
    )
    goal = JointGoal(goal="loss_rate of at most 1 %", verdict=Verdict.UNDECIDED, reached=None)
    return {
        "class-queues": ClassQueueSizes(
            engine="simulation", class_queues=(queue,), bytes=13_500, wanted_bytes=13_500,
            memory_bytes=None, passes=1, steady=True, goals=(goal,), outcome=outcome,
        ),
        "comparison": Comparison(outcomes=(outcome,)),
        "outcome": outcome,
        "size-result": forebay.size(scenario, seeds=2, max_seeds=2, jobs=1),
        "sensitivity": forebay.sensitivity(OC3, "theory", method="one-at-a-time"),
        "trace": forebay.trace(scenario),
        "transient": transient(),
        "uncertain-size": forebay.size_uncertain(
            OC3, {"traffic.0.flows": "50..200"}, "theory", draws=8
        ),
    }  # fmt: skip


def transient() -> Transient:
    from forebay import networks

    made = loads(PAIR)
    return networks.transient(made, "2 s", start=made, samples=9)


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_an_answer_is_read_back_equal(answers, name):
    answer = answers[name]
    assert type(answer) is DOCUMENTS[name]
    again = type(answer).from_json(answer.to_json())
    assert again == answer and again.to_dict() == answer.to_dict()
    assert answer.to_dict()["schema"] == 1
    assert json.loads(answer.to_json()) == answer.to_dict()
    assert "\n" not in answer.to_json(indent=None)
    assert hash(again) == hash(answer) and {answer: 1}[again] == 1


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_the_shipped_schema_is_the_model_s_and_the_answer_fits_it(answers, name):
    shipped = (SHIPPED / f"{name}.schema.json").read_text(encoding="utf-8")
    assert shipped == text(name), "make generated writes it anew"
    jsonschema.Draft202012Validator(schema(name)).validate(answers[name].to_dict())


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_a_newer_schema_an_unknown_field_and_no_schema_are_refused_in_one_line(answers, name):
    answer = answers[name]

    def refused(change: dict[str, Any]) -> str:
        with pytest.raises(DocumentError) as caught:
            type(answer).from_dict(change, "a.json")
        assert caught.value.exit_status == 2 and "\n" not in str(caught.value)
        return str(caught.value)

    document = answer.to_dict()
    newer = refused(document | {"schema": 99, "colour": "blue"})
    assert newer.startswith("a.json: schema 99 is newer than 1, the newest known here; upgrade")
    assert refused(document | {"colour": "blue"}).startswith("a.json: colour: is no field")
    del document["schema"]
    assert refused(document).startswith(f"a.json: is no {type(answer).__name__}")
    assert refused([]).startswith(f"a.json: is no {type(answer).__name__}")  # type: ignore[arg-type]


def test_a_newer_outcome_inside_a_sizing_is_refused(answers):
    document = answers["size-result"].to_dict()
    document["curve"][0]["outcome"]["schema"] = 2
    with pytest.raises(DocumentError, match="schema 2 is newer than 1"):
        SizeResult.from_dict(document)


def test_the_old_name_of_goal_metrics_is_refused(answers):
    document = answers["outcome"].to_dict()
    link = document["links"]["bottleneck"]
    assert "utilization_probability" in link["goal_metrics"]
    link["asked"] = link.pop("goal_metrics")
    with pytest.raises(DocumentError, match="asked is now goal_metrics"):
        Outcome.from_dict(document)


@pytest.mark.parametrize(
    ("old", "new"), [("up", "increasing"), ("down", "decreasing"), ("either", "non-monotone")]
)
def test_the_directions_of_goals_in_an_older_sizing_are_read(answers, old, new):
    document = answers["size-result"].to_dict()
    goal = document["goals"][0]
    assert "pushes" not in goal
    goal["pushes"] = old
    del goal["direction"]
    assert SizeResult.from_dict(document).goals[0].direction == new


def test_a_goal_of_an_older_sizing_whose_title_was_left_out_is_called_by_its_name(answers):
    document = answers["size-result"].to_dict()
    goal = document["goals"][0]
    less = {key: goal[key] for key in ("name", "sense", "unit", "target")}
    document["relaxations"] = [
        less | {"title": "", "relaxed": None, "packets": None, "reached": None}
    ]
    goal |= {"name": "queue_delay_p99", "title": ""}
    found = SizeResult.from_dict(document)
    assert found.goals[0].title == "queue delay p99"
    assert found.relaxations[0].title == less["name"].replace("_", " ")


def test_an_older_trace_calls_its_reductions_cuts(answers):
    document = answers["trace"].to_dict()
    document["cuts"] = document.pop("reductions")
    assert Trace.from_dict(document) == answers["trace"]


@pytest.mark.parametrize("wrong", ["", "nonsense", "[" * 100_000, b"\xff\xfe\x00"])
def test_what_is_no_json_is_refused_in_one_line(wrong):
    with pytest.raises(
        DocumentError, match=r"^a.json: is no JSON.*make one with to_json\(\)"
    ) as caught:
        Trace.from_json(wrong, "a.json")
    assert "\n" not in str(caught.value)
    assert caught.value.worded(Notation.COMMAND_LINE).endswith("make one with --json")


@pytest.mark.parametrize(("high", "guess"), [(39, False), (40, True), (41, True)])
def test_a_range_of_ten_times_its_low_end_is_a_guess(high, guess):
    buffer = Buffer(packets=high, bytes=1, seconds=1.0, low=4, high=high)
    assert buffer.is_guess == guess
    with pytest.raises(ValidationError, match="frozen"):
        buffer.low = 1  # type: ignore[misc]


def test_a_document_that_says_only_the_buffer_is_a_sizing():
    buffer = {"packets": 129, "bytes": 193_500, "seconds": 0.01}
    read = SizeResult.from_dict({"schema": 1, "buffer": buffer})
    assert (read.buffer.low, read.buffer.high) == (129, 129)


def test_an_older_outcome_gets_the_names_that_its_classes_would_have(answers):
    document = answers["outcome"].to_dict()
    assert [each["name"] for each in document["classes"]] == ["long-0", "web"]
    for kind in document["classes"]:
        for field in ADDED:
            del kind[field]
    for link in document["links"].values():
        del link["capacity_bps"], link["most_packets"]
    old = Outcome.from_dict(document)
    assert [each.name for each in old.classes] == ["long-0", "short-1"]
    assert old.classes[1].unfinished is None


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_an_answer_is_short_to_read_and_shows_itself_in_a_notebook(answers, name):
    answer = answers[name]
    assert repr(answer).startswith(f"{type(answer).__name__}('") and len(repr(answer)) < 200
    html = answer._repr_html_()
    if name in AS_TEXT:
        assert html.startswith("<pre>") and str(answer).splitlines()[0] in html
        return
    assert str(answer) == repr(answer)
    if isinstance(answer, Comparison):
        assert repr(Comparison(outcomes=answer.outcomes * 2)).count("unnamed") == 1
    assert html.count("<table>") == html.count("</table>") == 1
    assert len(html) < 2000 and "<script" not in html


def test_names_are_escaped_in_a_notebook(scenario):
    named = scenario.model_copy(update={"name": "<script>alert(1)</script> & $x$"})
    outcome = forebay.run(named, engine="simulation", jobs=1)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; $x$" in outcome._repr_html_()
    assert "<script" not in outcome._repr_html_()
    outcome.figure().canvas.draw()  # type: ignore[no-untyped-call]


def _labels(answer: Document) -> list[str]:
    return [axes.get_xlabel() or axes.get_ylabel() for axes in answer.figure().axes]


def test_figures_show_what_was_measured_and_nothing_else(answers):
    outcome = answers["outcome"]
    assert isinstance(outcome, Outcome)
    panels = ["utilization, %", "loss, %", "wait in the queue, ms", "rate of a class, Mbit/s"]
    assert _labels(outcome) == panels
    busy = outcome.links["bottleneck"].utilization
    (bar,) = outcome.figure().axes[0].patches
    assert bar.get_width() == pytest.approx(100 * busy.value)  # type: ignore[attr-defined]
    unmeasured = {"loss_rate": None, "queue_delay_s": None, "utilization": None}
    links = {k: v.model_copy(update=unmeasured) for k, v in outcome.links.items()}
    bare = outcome.model_copy(update={"links": links, "classes": []})
    assert _labels(bare) == ["utilization, %"]
    assert "–" in bare.figure().axes[0].texts[0].get_text()
    for name, label in (("size-result", "utilization, %"), ("trace", "queue Q, packets")):
        assert label in [axes.get_ylabel() for axes in answers[name].figure().axes]


def test_a_number_that_is_not_finite_is_no_json(answers):
    outcome = answers["outcome"]
    links = {
        name: link.model_copy(update={"bdp_packets": math.nan})
        for name, link in outcome.links.items()
    }
    with pytest.raises(ValueError, match="not JSON compliant"):
        outcome.model_copy(update={"links": links}).to_json()


@pytest.mark.parametrize(("size", "fits"), [(10, True), (11, False)])
def test_a_document_that_is_too_long_is_refused(size, fits, monkeypatch):
    monkeypatch.setattr("forebay.outcome.document.MOST_BYTES", 10)
    file = io.BytesIO(b" " * size)
    if fits:
        assert within_bounds(file, "answer.json") == b" " * size
    else:
        with pytest.raises(DocumentError, match="is longer than 0 MiB"):
            within_bounds(file, "answer.json")


@pytest.mark.parametrize(
    ("verdict", "error", "status"),
    [(Verdict.MET, None, 0), (Verdict.MISSED, None, 1), (Verdict.UNDECIDED, None, 3),
     (Verdict.MET, "no size meets its goals", 3), (Verdict.MISSED, "no size", 1)],
)  # fmt: skip
def test_class_queues_end_by_their_goals(answers, verdict, error, status):
    found = answers["class-queues"]
    assert isinstance(found, ClassQueueSizes)
    (queue,), (goal,) = found.class_queues, found.goals
    changed = {
        "class_queues": (queue.model_copy(update={"error": error}),),
        "goals": (goal.model_copy(update={"verdict": verdict}),),
    }
    assert found.model_copy(update=changed).exit_status == status


def test_a_sensitivity_of_before_sobol_has_no_design(answers):
    document = answers["sensitivity"].to_dict()
    for name in ("draws", "asked_draws", "method", "sized"):
        del document[name]
    older = Sensitivity.from_dict(document)
    assert (older.draws, older.asked_draws, older.method) == (0, 0, "one-at-a-time")
