"""Records of disciplines and kinds agree with the models and the simulator's list."""

import re
from pathlib import Path
from typing import get_args

import pytest

import forebay
from forebay import _core, scenario
from forebay.catalogue import DISCIPLINES, KINDS
from forebay.engines import simulation
from forebay.engines.errors import EngineUnavailable
from forebay.outcome import AqmTarget
from forebay.scenario import Long, Queue, Requests, Session, Short, Tcp, Transfers
from forebay.scenario.queue import Discipline
from forebay.scenario.traffic import OpenLoop
from forebay.search import parameter as knob
from forebay.workload.drawing import _draw_of

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs/reference/queues.md").read_text(encoding="utf-8")
CALLED = {"buckets": "flows"}
"""Parameters with another name in tc."""
MODELS = {
    each.model_fields["kind"].default: each
    for each in (Long, Short, Session, Requests, Transfers, *get_args(OpenLoop))
}


def chapter(name: str) -> str:
    assert f"\n## `{name}`\n" in REFERENCE, f"discipline {name!r} has no chapter in queues.md"
    return REFERENCE.split(f"\n## `{name}`\n", 1)[1].split("\n## ", 1)[0]


def test_the_simulator_has_the_same_disciplines():
    registry = (ROOT / "crates/sim/src/queue/registry.rs").read_text(encoding="utf-8")
    names = set(re.findall(r'^ +"([a-z0-9_]+)" => ', registry, re.MULTILINE))
    for name in names ^ {each.in_tc for each in DISCIPLINES.values()}:
        part = "registry.rs" if name not in names else "forebay.catalogue.disciplines"
        raise AssertionError(f"discipline {name!r} is not in {part}")
    assert tuple(DISCIPLINES) == get_args(Discipline)


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
    assert callable(_draw_of(kind.name))


def test_every_model_has_a_record():
    for name in MODELS.keys() ^ KINDS.keys():
        part = "forebay.scenario.traffic" if name in KINDS else "forebay.catalogue.kinds"
        raise AssertionError(f"kind {name!r} is not in {part}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_can_be_imported_from_the_package(kind):
    name = MODELS[kind].__name__
    for module in (forebay, scenario):
        assert name in module.__all__, f"kind {kind!r}: {module.__name__} does not have {name}"
        assert getattr(module, name) is MODELS[kind]
    seen_by_checkers = Path(forebay.__file__).read_text(encoding="utf-8")
    assert f"{name} as {name}" in seen_by_checkers, f"kind {kind!r}: type checkers miss {name}"


def row_of(name: str, parameter: str) -> list[str] | None:
    """Return the cells of a parameter's row in the table of its discipline's chapter."""
    said = rf"^\| `{CALLED.get(parameter, parameter)}` \|.*$"
    row = re.search(said, chapter(DISCIPLINES[name].in_tc), re.MULTILINE)
    return None if row is None else [cell.strip() for cell in row.group().split("|")]


@pytest.mark.parametrize("name", DISCIPLINES)
def test_a_default_is_that_of_the_reference(name):
    """The chapter's table has the default of each parameter, in words where it is computed."""
    record = DISCIPLINES[name]
    assert set(record.parameters) <= set(Queue.model_fields)
    for parameter, default in record.parameters.items():
        row = row_of(name, parameter)
        assert row is not None, f"discipline {name!r}: queues.md has no row for {parameter}"
        _, _, unit, _, written, *_ = row
        if default is None:
            assert not written.replace(".", "").isdigit()
        elif unit == "time":
            assert written == f"{1e3 * default:g} ms"
        elif written in ("on", "off"):
            assert default == (written == "on")
        else:
            assert float(written) == default
    if record.default_limit:
        assert int(row_of(name, "limit")[4]) == record.default_limit
    # The row of a target: a time, or a share of another default.
    target = row_of(name, "target")
    assert (target is None) == (record.default_target_s is None)
    if target is not None:
        in_ms = {"`rtt` / 20": "5 ms"}.get(target[4], target[4])
        assert in_ms == f"{1e3 * record.default_target_s:g} ms"


def test_a_core_with_another_default_is_refused(monkeypatch):
    built = _core.disciplines()
    (pie,) = (each for each in built if each["name"] == "pie")
    pie["parameters"]["target"] = 0.02
    monkeypatch.setattr(_core, "disciplines", lambda: built)
    said = "default of target of the discipline 'pie' is 0.02 there, not 0.015; run `make setup`"
    with pytest.raises(EngineUnavailable, match=said):
        simulation.check_core.__wrapped__()
