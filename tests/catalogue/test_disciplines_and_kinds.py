"""Records of disciplines and kinds agree with the models and the simulator's list."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from forebay.catalogue import DISCIPLINES, KINDS
from forebay.outcome import AqmTarget
from forebay.scenario import Long, OnOff, Queue, Replay, Session, Short, Tcp, Udp, Video
from forebay.scenario.queue import Discipline
from forebay.search import parameter as knob

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs/reference/queues.md").read_text(encoding="utf-8")
MODELS = {
    each.model_fields["kind"].default: each
    for each in (Long, Short, Session, Udp, OnOff, Video, Replay)
}


def chapter(name: str) -> str:
    return REFERENCE.split(f"\n## `{name}`\n", 1)[1].split("\n## ", 1)[0]


def test_the_simulator_has_the_same_disciplines():
    registry = (ROOT / "crates/sim/src/queue/registry.rs").read_text(encoding="utf-8")
    names = set(re.findall(r'^ +"([a-z0-9_]+)" => ', registry, re.MULTILINE))
    assert names == {each.in_tc for each in DISCIPLINES.values()}
    assert tuple(DISCIPLINES) == get_args(Discipline)


@pytest.mark.parametrize("name", DISCIPLINES)
def test_a_default_target_is_that_of_the_reference(name):
    """The row of `target` in docs/reference/queues.md: a time, or a share of another default."""
    row = re.search(r"^\| `target` \|.*$", chapter(DISCIPLINES[name].in_tc), re.MULTILINE)
    default = DISCIPLINES[name].default_target_s
    assert (row is None) == (default is None)
    if row is not None:
        written = row.group().split("|")[4].strip()
        in_ms = {"`rtt` / 20": "5 ms"}.get(written, written)
        assert in_ms == f"{1e3 * default:g} ms"


@pytest.mark.parametrize("name", DISCIPLINES)
def test_its_parameters_are_fields_of_a_queue(name):
    assert set(DISCIPLINES[name].parameters) <= set(Queue.model_fields)


def test_a_sizing_changes_what_the_record_says():
    aims = {each.name for each in DISCIPLINES.values() if each.sized == "target"}
    assert (
        aims == set(knob._TARGETS) == set(get_args(AqmTarget.model_fields["discipline"].annotation))
    )
    assert {each.name for each in DISCIPLINES.values() if each.reads_interval} == set(
        knob._INTERVALS
    )


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda each: each.name)
def test_a_kind_is_that_of_its_model(kind):
    model = MODELS[kind.name]
    assert issubclass(model, Tcp) == kind.runs_tcp
    assert kind.open_loop == (not kind.runs_tcp)
    assert not kind.completes or kind.runs_tcp


def test_every_model_has_a_record():
    assert set(MODELS) == set(KINDS)
