"""Nothing legal may crash, hang, eat the machine or print an impossible number.

Some random scenarios, and every one that ever went wrong; ``make fuzz`` runs them for
as long as one likes.
"""

import os
from collections.abc import Iterator

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judge import CORPUS, Judge
from pydantic import BaseModel
from scenarios import APART, Scale, field, networks, trees
from tests.cases import cases, examples

from forebay.scenario import Distribution, FlowLength, ScenarioError, dumps, loads
from forebay.scenario.format_error import models_in
from forebay.scenario.model import Scenario
from forebay.search.remarks import assumed

CASES = int(os.environ.get("FUZZ_CASES", examples(50)))
ASKS = ["theory", "simulation"]
MORE = st.sampled_from([[], [], [], ["trace"], ["size"], ["seeds"]])
ALL = ["theory", "simulation", "seeds", "trace", "size"]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@settings(max_examples=CASES, derandomize=True, suppress_health_check=list(HealthCheck))
@given(trees(), MORE)
def test_random_scenarios(judge, tree, more):
    text = tomli_w.dumps(tree)
    wrong, _ = judge.wrong_with(text, ASKS + more)
    assert not wrong, f"{wrong}\n{text}"


@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(st.one_of(trees(), networks()))
def test_what_is_written_is_read_back(tree):
    try:
        scenario = loads(tomli_w.dumps(tree))
    except ScenarioError:
        return
    again = loads(dumps(scenario))
    assert again == scenario
    assert again.sha256() == scenario.sha256() and again.to_dict() == scenario.to_dict()
    written = scenario.to_dict(defaults=False)
    asked = Scenario.from_dict(written)
    assert asked.sha256() == scenario.sha256() and asked.to_dict(defaults=False) == written
    assert assumed(asked) == assumed(scenario)


BUDGETS = st.builds("{} in {:.2g} s".format, st.sampled_from(["size", "run"]), st.floats(0.5, 3.0))


@settings(
    max_examples=max(4, CASES // 10), derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.one_of(trees(), networks()), BUDGETS)
def test_random_scenarios_within_a_time(judge, tree, ask):
    """How late an answer is, is asked by ``make fuzz``: it hangs on what else the machine does."""
    text = tomli_w.dumps(tree)
    wrong, _ = judge.wrong_with(text, [ask])
    assert not wrong, f"{wrong}\n{ask}\n{text}"


SLOW = ("many-buckets-overflow", "pauses-far-below-their-mean")
"""Answers that take ten seconds and more."""


@pytest.mark.parametrize(
    "path",
    cases(sorted(CORPUS.glob("*.toml")), lambda path: path.stem not in SLOW),
    ids=lambda path: path.stem,
)
def test_what_once_went_wrong(judge, path):
    wrong, _ = judge.wrong_with(path.read_text(), ALL)
    assert not wrong


def _tables(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for name, info in model.model_fields.items():
        if name in APART:
            continue
        for each in models_in(info.annotation):
            if not issubclass(each, Distribution | FlowLength):
                yield from _tables(each)


def test_every_field_is_drawn():
    """A field of a new type fails here until scenarios.py knows how to draw it."""
    scale = Scale(1.0, 1e6, ("bottleneck",))
    for model in set(_tables(Scenario)):
        for info in (i for name, i in model.model_fields.items() if name not in APART):
            field(info, scale).validate()


def test_a_panic_is_seen(judge):
    """The judge itself can fail: here the process is ended under it."""
    text = '[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\n'
    loads(text)
    assert judge.wrong_with(text, ["theory"])[0] == ""
    judge._worker.kill()
    judge._worker.wait()
    assert judge.wrong_with(text, ["theory"])[0] == ""
    assert judge.wrong_with(text, ["no such ask"])[0] != ""
