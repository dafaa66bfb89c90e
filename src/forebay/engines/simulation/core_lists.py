"""Compares the core's lists with the catalogue, when the engine is made.

The core is compiled: it may be older than the catalogue, or newer. If they have other congestion
controls, or state other properties of one, an answer would be about something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from forebay import _core
from forebay.catalogue import CONTROLS, DISCIPLINES, Control, Discipline
from forebay.engines.errors import EngineUnavailable

if TYPE_CHECKING:
    pass


_ROUNDING = 1 / 1024
"""Linux's arithmetic keeps shares of a window in 1024ths."""


_MARKS = {
    "loss": "as a loss",
    "fraction": "in proportion",
    "l4s": "in proportion",
    "ignored": "no",
}


@cache
def check_core() -> None:
    """Refuse a core whose lists differ from the catalogue's. Raises EngineUnavailable."""
    if not hasattr(_core, "controllers"):
        raise _differs("its lists cannot be read")
    controls = {each["name"]: each for each in _core.controllers()}
    _compare("congestion control", CONTROLS.values(), lambda each: each.name, controls, _control)
    disciplines = {each["name"]: each for each in _core.disciplines()}
    _compare("discipline", DISCIPLINES.values(), lambda each: each.in_tc, disciplines, _discipline)


def _compare(
    what: str,
    records: Iterable[Any],
    name_of: Callable[[Any], str],
    core: Mapping[str, Mapping[str, Any]],
    facts: Callable[[Any, Mapping[str, Any]], Iterable[tuple[str, object, object]]],
) -> None:
    """Compare records with the core's, both ways; ``facts`` yields name, ours and the core's."""
    ours = {name_of(each): each for each in records}
    for name in sorted(ours.keys() ^ core.keys()):
        where = "the core does not have" if name in ours else "the catalogue does not have"
        raise _differs(f"{where} the {what} {name!r}")
    for name, record in ours.items():
        for fact, stated, built in facts(record, core[name]):
            if stated != built:
                raise _differs(f"{fact} of the {what} {name!r} is {built} there, not {stated}")


def _control(record: Control, core: Mapping[str, Any]) -> Iterable[tuple[str, object, object]]:
    yield "paced", record.paced, core["paced"]
    yield "is_model_based", record.is_model_based, core["decrease"] == "model"
    kept, built = record.kept_after_loss, core["kept_after_loss"]
    close = kept is not None and built is not None and abs(kept - built) < _ROUNDING
    yield "kept_after_loss", kept, kept if close else built
    yield "answers_marks", record.answers_marks, _MARKS[core["marks"]]
    yield "needs_ecn", record.needs_ecn, core["marks"] in ("fraction", "l4s")
    response = None if record.response is None else record.response.partition("-")[0]
    yield "response", response, core["response"]


def _discipline(
    record: Discipline, core: Mapping[str, Any]
) -> Iterable[tuple[str, object, object]]:
    parameters = core["parameters"]
    scenario_s = {name for name in parameters if name not in record.simulator_only}
    yield "parameters", sorted(record.parameters), sorted(scenario_s)
    for name, default in record.parameters.items():
        yield f"default of {name}", default, parameters[name]


def _differs(how: str) -> EngineUnavailable:
    missing = f"its core and forebay.catalogue differ: {how}"
    return EngineUnavailable("simulation", missing, "run `make setup`")
