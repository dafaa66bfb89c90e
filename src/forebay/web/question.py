"""A question of the page as a Scenario, and errors as the page shows them beside a field."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

import forebay
from forebay.errors import ForebayError, Words, words

PARTS = ("name", "link", "queue", "traffic", "goals", "measure")
_NOTHING: list[tuple[str, object]] = [("links", [])]
"""What every written scenario has, and says nothing."""
_MOST_CLASSES, _MOST_FLOWS, _DEEPEST = 16, 200_000, 12


class Refused(ForebayError):
    """A question that the workbench does not ask, whatever the command line does with it."""

    code = "refused"

    def __init__(self, wrong: str, hint: str, field: str = "") -> None:
        self.wrong, self.hint, self.field = wrong, hint, field
        super().__init__(f"{wrong}; {hint}")


def scenario_of(asked: object) -> forebay.Scenario:
    """Return the scenario of a question. Raises Refused or ScenarioError.

    A question has the structure of a scenario file. Networks and further links are refused, and so
    is every path, before the file is opened.
    """
    if not isinstance(asked, Mapping):
        raise Refused("the question is no table", "send the JSON of a scenario")
    asked = {name: part for name, part in asked.items() if (name, part) not in _NOTHING}
    for name in asked:
        if name not in PARTS:
            raise Refused(
                f"{str(name)[:40]!r} is not for the workbench", f"write {', '.join(PARTS)}"
            )
    _check_depth(asked)
    with words(Words.FILE):
        scenario = forebay.Scenario.from_dict(asked, files=False)
    flows = sum(float(group.flows or 0) for group in scenario.traffic)
    if len(scenario.traffic) > _MOST_CLASSES:
        raise Refused("too many classes", f"write at most {_MOST_CLASSES}", "traffic")
    if flows > _MOST_FLOWS:
        wrong = f"{flows:.0f} flows are more than the workbench simulates"
        raise Refused(wrong, f"write at most {_MOST_FLOWS}", "traffic.0.flows")
    return scenario


def _check_depth(value: object, depth: int = 0) -> None:
    """Refuse what is nested more deeply than a scenario is."""
    if depth > _DEEPEST:
        raise Refused("the question is nested too deeply", "send the JSON of a scenario")
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(parts, list):
        for each in parts:
            _check_depth(each, depth + 1)


def question_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return a scenario as a question, in the notation of a file. Raises Refused.

    A measured window that nobody set is left out, because a search may then choose it.
    """
    tree = tomllib.loads(scenario.to_toml())
    if "measure" not in scenario.model_fields_set:
        tree.pop("measure", None)
    asked: dict[str, Any] = _without_empty(tree)
    scenario_of(asked)
    return asked


def toml_of(asked: Any) -> str:
    """Return a question as a scenario file, word for word."""
    return tomli_w.dumps(_without_empty(asked))


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {name: _without_empty(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part is not None and part != []}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def error_of(error: BaseException) -> dict[str, Any]:
    """Return an error for the page: the field, what is wrong, what to write."""
    wrong, hint = getattr(error, "wrong", ""), getattr(error, "hint", "")
    field = getattr(error, "field", "")
    if not wrong:  # the text has the hint
        wrong, hint = str(error), ""
    return {"field": str(field), "wrong": str(wrong), "hint": str(hint), "text": str(error)}
